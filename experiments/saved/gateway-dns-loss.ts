import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis: "The shop goes on listing its products while one container of the gateway cannot look up names.",
    target: "k8s.deployment=gateway",
    attack: { kind: "dns" },
};
export default experiment;
