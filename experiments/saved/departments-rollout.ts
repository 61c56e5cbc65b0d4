import { productsCheck } from "../products";
import { stopGracefully } from "../remedies";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "No request to /products is lost while the departments are restarted one after the other.",
    checks: [{ ...productsCheck, perSecond: 10 }],
    actions: [
        { kind: "rollout", deployment: "fashion-bestseller" },
        { kind: "rollout", deployment: "hot-deals" },
        { kind: "rollout", deployment: "toys-bestseller" },
    ],
    story: { lesson: "change", failing: ["/products"], mayPass: true, remedy: stopGracefully },
} satisfies SavedExperiment;
