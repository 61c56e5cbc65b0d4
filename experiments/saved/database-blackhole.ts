import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis: "The shop still lists its products while the database is cut off from the network.",
    attacks: [{ kind: "blackhole", target: "k8s.deployment=database" }],
};
export default experiment;
