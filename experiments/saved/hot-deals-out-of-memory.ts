import { productsCheck } from "../products";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis:
        "The shop lists its products again within the grace period after hot-deals has exceeded its memory limit.",
    // Whether that kills the container, or this program alone, depends on the cgroup version. The journal says which.
    attacks: [{ kind: "stress", target: "k8s.deployment=hot-deals", memory: "100%", untilKilled: true }],
    checks: [productsCheck, { kind: "podsReady", of: "k8s.deployment=hot-deals" }],
    story: {
        lesson: "pods",
        remedy: { what: "Kubernetes starts a container again at once that was killed.", compare: "hot-deals-fails" },
    },
} satisfies SavedExperiment;
