import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis: "The shop still lists its products while one container of toys-bestseller is cut off from the network.",
    attacks: [{ kind: "blackhole", target: "k8s.deployment=toys-bestseller" }],
    story: {
        lesson: "gone",
        failing: ["/products"],
        remedy: {
            what: "Three pods of toys-bestseller: the cluster routes around the one that is cut off.",
            settings: { "replicas.toys-bestseller": "3" },
        },
    },
};
export default experiment;
