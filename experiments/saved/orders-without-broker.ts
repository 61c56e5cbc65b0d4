import { goneForTenSeconds, orderAccepted, orderFulfilled } from "../orders";
import { outbox } from "../remedies";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis:
        "Orders are accepted while the message broker is gone for ten seconds, and each is fulfilled within 20 s.",
    checks: [orderAccepted, orderFulfilled],
    actions: goneForTenSeconds("message-broker"),
    variant: "seven",
    story: { lesson: "work", remedy: outbox },
} satisfies SavedExperiment;
