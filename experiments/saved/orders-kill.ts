import { orderAccepted } from "../orders";
import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis: "The shop still accepts orders while pods of orders are killed, one every ten seconds.",
    attacks: [{ kind: "kill", target: "k8s.deployment=orders", intervalMs: 10_000 }],
    checks: [orderAccepted],
    variant: "seven",
    story: {
        lesson: "pods",
        failing: ["POST /orders"],
        remedy: {
            what: "Three pods of orders, which go on serving while they stop.",
            settings: { "replicas.orders": "3", "shutdown.delay": "5s" },
        },
    },
};
export default experiment;
