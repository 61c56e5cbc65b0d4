import { threePodsThatStopGracefully } from "../remedies";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "The shop still lists its products while pods of hot-deals are killed, one every five seconds.",
    attacks: [{ kind: "kill", target: "k8s.deployment=hot-deals", intervalMs: 5_000 }],
    story: { lesson: "pods", failing: ["/products"], remedy: threePodsThatStopGracefully("hot-deals") },
} satisfies SavedExperiment;
