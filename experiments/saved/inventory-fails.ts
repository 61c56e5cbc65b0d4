import { orderAccepted } from "../orders";
import { threePods } from "../remedies";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis:
        "Orders are accepted while one pod of the inventory does not run, and at most 20 messages wait in the broker.",
    attacks: [{ kind: "fail", target: "k8s.deployment=inventory" }],
    checks: [
        { ...orderAccepted, perSecond: 10 },
        // The end of the run waits until it is good: until the inventory has decided all that wait.
        { kind: "http", name: "the queue is short", path: "/orders/queue", json: [{ path: "waiting", atMost: 20 }] },
    ],
    variant: "seven",
    story: { lesson: "work", failing: ["the queue is short"], remedy: threePods("inventory") },
} satisfies SavedExperiment;
