import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "The shop still lists its products while one container of the gateway cannot look up names.",
    attacks: [{ kind: "dns", target: "k8s.deployment=gateway" }],
    story: { lesson: "gone", failing: ["/products"] },
} satisfies SavedExperiment;
