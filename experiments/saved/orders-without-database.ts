import { orderAccepted } from "../orders";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "The shop still accepts orders while the database is cut off from the network.",
    attacks: [{ kind: "blackhole", target: "k8s.deployment=database" }],
    checks: [orderAccepted],
    variant: "seven",
    story: {
        lesson: "work",
        failing: ["POST /orders"],
        remedy: {
            what: "What can wait goes through the broker: only the database must be there at once.",
            compare: "orders-without-broker",
        },
    },
} satisfies SavedExperiment;
