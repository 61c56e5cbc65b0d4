import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis:
        "The shop still lists its products while one container of fashion-bestseller is cut off from the network.",
    attacks: [{ kind: "blackhole", target: "k8s.deployment=fashion-bestseller" }],
};
export default experiment;
