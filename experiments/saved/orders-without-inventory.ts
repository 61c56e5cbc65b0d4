import { goneForTenSeconds, orderAccepted, orderFulfilled } from "../orders";
import { outbox } from "../remedies";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "Orders are accepted while the inventory is gone for ten seconds, and each is fulfilled within 20 s.",
    checks: [orderAccepted, orderFulfilled],
    actions: goneForTenSeconds("inventory"),
    variant: "seven",
    story: { lesson: "work", remedy: outbox },
} satisfies SavedExperiment;
