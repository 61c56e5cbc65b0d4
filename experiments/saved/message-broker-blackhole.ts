import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis: "The shop still lists its products while its message broker is cut off from the network.",
    attacks: [{ kind: "blackhole", target: "k8s.deployment=message-broker" }],
    variant: "seven",
};
export default experiment;
