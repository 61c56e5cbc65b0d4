import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis: "The shop goes on listing its products while the database is cut off the network.",
    attacks: [{ kind: "blackhole", target: "k8s.deployment=database" }],
};
export default experiment;
