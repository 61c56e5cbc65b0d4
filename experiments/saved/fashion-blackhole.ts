import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis:
        "The shop goes on listing its products while one container of fashion-bestseller is cut off the network.",
    attacks: [{ kind: "blackhole", target: "k8s.deployment=fashion-bestseller" }],
};
export default experiment;
