import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis: "The shop still lists its products while one container of hot-deals is cut off from the network.",
    attacks: [{ kind: "blackhole", target: "k8s.deployment=hot-deals" }],
    story: {
        lesson: "gone",
        failing: ["/products"],
        remedy: {
            what: "Three pods of hot-deals: the cluster routes around the one that is cut off.",
            settings: { "replicas.hot-deals": "3" },
        },
    },
};
export default experiment;
