import { productsCheck } from "../products";
import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis: "No request to /products is lost while the departments are restarted one after the other.",
    checks: [{ ...productsCheck, perSecond: 10 }],
    actions: [
        { kind: "rollout", deployment: "fashion-bestseller" },
        { kind: "rollout", deployment: "hot-deals" },
        { kind: "rollout", deployment: "toys-bestseller" },
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
