import { threePods } from "../remedies";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "The shop still lists its products while one pod of hot-deals stays, and does not run.",
    attacks: [{ kind: "fail", target: "k8s.deployment=hot-deals" }],
    story: { lesson: "gone", failing: ["/products"], remedy: threePods("hot-deals") },
} satisfies SavedExperiment;
