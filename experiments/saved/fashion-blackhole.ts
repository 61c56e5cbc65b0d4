import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis:
        "The shop still lists its products while one container of fashion-bestseller is cut off from the network.",
    attacks: [{ kind: "blackhole", target: "k8s.deployment=fashion-bestseller" }],
    story: {
        lesson: "gone",
        failing: ["/products"],
        remedy: {
            what: "Three pods of fashion-bestseller: the cluster routes around the one that is cut off.",
            settings: { "replicas.fashion-bestseller": "3" },
        },
    },
};
export default experiment;
