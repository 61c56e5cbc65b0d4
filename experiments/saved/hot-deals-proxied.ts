import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis: "A fault that delays nothing changes nothing: the shop lists its products through the proxy.",
    attacks: [{ kind: "fault", service: "hot-deals", radius: "all", delay: "0ms" }],
};
export default experiment;
