import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis: "The shop still lists its products while one container of hot-deals cannot reach the database.",
    attacks: [
        {
            kind: "blackhole",
            target: "k8s.deployment=hot-deals",
            direction: "egress",
            peers: "k8s.deployment=database",
        },
    ],
    story: {
        lesson: "gone",
        failing: ["/products"],
        remedy: {
            what: "Three pods of hot-deals: the cluster routes around the one that is not ready.",
            settings: { "replicas.hot-deals": "3" },
        },
    },
};
export default experiment;
