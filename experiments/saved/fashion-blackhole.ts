import { threePods } from "../remedies";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis:
        "The shop still lists its products while one container of fashion-bestseller is cut off from the network.",
    attacks: [{ kind: "blackhole", target: "k8s.deployment=fashion-bestseller" }],
    story: { lesson: "gone", failing: ["/products"], remedy: threePods("fashion-bestseller") },
} satisfies SavedExperiment;
