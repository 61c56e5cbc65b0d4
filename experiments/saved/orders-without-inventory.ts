import { orderAccepted, orderFulfilled } from "../orders";
import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis: "Orders are accepted while the inventory is gone for ten seconds, and each is fulfilled within 20 s.",
    checks: [orderAccepted, orderFulfilled],
    actions: [
        { kind: "wait", durationMs: 2_000 },
        { kind: "scale", deployment: "inventory", replicas: 0 },
        { kind: "wait", durationMs: 10_000 },
        { kind: "scale", deployment: "inventory", replicas: 1 },
    ],
    variant: "seven",
    story: {
        lesson: "work",
        remedy: {
            what: "An order is in the database before it is accepted, and is sent until it is settled.",
            compare: "orders-without-database",
        },
    },
};
export default experiment;
