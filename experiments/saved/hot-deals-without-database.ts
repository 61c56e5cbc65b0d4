import { threePods } from "../remedies";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "The shop still lists its products while one container of hot-deals cannot reach the database.",
    attacks: [
        {
            kind: "blackhole",
            target: "k8s.deployment=hot-deals",
            direction: "egress",
            peers: "k8s.deployment=database",
        },
    ],
    story: { lesson: "gone", failing: ["/products"], remedy: threePods("hot-deals") },
} satisfies SavedExperiment;
