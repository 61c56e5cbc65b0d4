import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis: "The shop still lists its products while hot-deals answers two seconds late.",
    attacks: [{ kind: "fault", service: "hot-deals", radius: "all", delay: "2s" }],
};
export default experiment;
