import { threePods } from "../remedies";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "The shop still lists its products while one container of hot-deals is cut off from the network.",
    attacks: [{ kind: "blackhole", target: "k8s.deployment=hot-deals" }],
    story: { lesson: "gone", failing: ["/products"], remedy: threePods("hot-deals") },
} satisfies SavedExperiment;
