import { productsCheck } from "../products";
import { stopGracefully } from "../remedies";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "No request to /products is lost while the gateway is restarted, as every update of it does.",
    checks: [{ ...productsCheck, perSecond: 10 }],
    actions: [
        { kind: "wait", durationMs: 2_000 },
        { kind: "rollout", deployment: "gateway" },
    ],
    story: { lesson: "change", failing: ["/products"], mayPass: true, remedy: stopGracefully },
} satisfies SavedExperiment;
