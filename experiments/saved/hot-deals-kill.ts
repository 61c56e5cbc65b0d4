import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis: "The shop still lists its products while pods of hot-deals are killed, one every five seconds.",
    attacks: [{ kind: "kill", target: "k8s.deployment=hot-deals", intervalMs: 5_000 }],
    story: {
        lesson: "pods",
        failing: ["/products"],
        remedy: {
            what: "Three pods of hot-deals, which go on serving while they stop.",
            settings: { "replicas.hot-deals": "3", "shutdown.delay": "5s" },
        },
    },
};
export default experiment;
