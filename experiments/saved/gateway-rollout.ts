import { productsCheck } from "../products";
import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis: "No request to /products is lost while the gateway is restarted, as every update of it does.",
    checks: [{ ...productsCheck, perSecond: 10 }],
    actions: [
        { kind: "wait", durationMs: 2_000 },
        { kind: "rollout", deployment: "gateway" },
    ],
    story: {
        lesson: "change",
        failing: ["/products"],
        mayPass: true,
        remedy: {
            what: "A stopping pod goes on serving until the cluster sends it no more requests.",
            settings: { "shutdown.delay": "5s" },
        },
    },
};
export default experiment;
