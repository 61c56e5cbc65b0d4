import { productsCheck } from "../products";
import { stopGracefully } from "../remedies";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "No request to /products is lost while the gateway is scaled up to three pods, and down to one again.",
    checks: [{ ...productsCheck, perSecond: 10 }],
    actions: [
        { kind: "wait", durationMs: 2_000 },
        { kind: "scale", deployment: "gateway", replicas: 3 },
        { kind: "wait", durationMs: 10_000 },
        { kind: "scale", deployment: "gateway", replicas: 1 },
    ],
    story: { lesson: "change", failing: ["/products"], mayPass: true, remedy: stopGracefully },
} satisfies SavedExperiment;
