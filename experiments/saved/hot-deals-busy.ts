import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "The shop still lists its products while hot-deals has hardly any CPU and memory left.",
    // Two processes want a core each, and the container may use one: it is throttled.
    attacks: [{ kind: "stress", target: "k8s.deployment=hot-deals", cpu: "2", memory: "100%" }],
    story: { lesson: "slow" },
} satisfies SavedExperiment;
