import { orderAccepted } from "../orders";
import { threePodsThatStopGracefully } from "../remedies";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "The shop still accepts orders while pods of orders are killed, one every ten seconds.",
    attacks: [{ kind: "kill", target: "k8s.deployment=orders", intervalMs: 10_000 }],
    checks: [orderAccepted],
    variant: "seven",
    story: { lesson: "pods", failing: ["POST /orders"], remedy: threePodsThatStopGracefully("orders") },
} satisfies SavedExperiment;
