import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis: "The shop still lists its products while pods of hot-deals are killed, one every five seconds.",
    attacks: [{ kind: "kill", target: "k8s.deployment=hot-deals", intervalMs: 5_000 }],
};
export default experiment;
