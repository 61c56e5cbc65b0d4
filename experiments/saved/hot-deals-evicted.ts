import { threePodsWithBudget } from "../remedies";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis:
        "The shop still lists its products while all pods of hot-deals are evicted, as by drains of their nodes.",
    attacks: [{ kind: "kill", by: "eviction", target: "k8s.deployment=hot-deals", radius: "all", intervalMs: 5_000 }],
    story: { lesson: "pods", failing: ["/products"], remedy: threePodsWithBudget("hot-deals") },
} satisfies SavedExperiment;
