import { orderAccepted, orderFulfilled } from "../orders";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis:
        "Orders are accepted, and fulfilled within 20 s, while the inventory comes back over a slow connection.",
    attacks: [{ kind: "fault", service: "message-broker", radius: "all", delay: "1s" }],
    checks: [orderAccepted, orderFulfilled],
    actions: [
        { kind: "wait", durationMs: 1_000 },
        { kind: "rollout", deployment: "inventory" },
    ],
    variant: "seven",
    story: {
        lesson: "slow",
        remedy: {
            what: "No customer waits for the inventory: orders reach it through the broker.",
            compare: "hot-deals-slow",
        },
    },
} satisfies SavedExperiment;
