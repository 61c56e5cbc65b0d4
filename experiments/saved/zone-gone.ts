import type { SavedExperiment } from "../saved";

/** The zone is the sandbox's. In another cluster, `experiment.target` names one of its zones. */
export default {
    hypothesis: "The shop still lists its products while all of it that runs in one zone is cut off from the network.",
    attacks: [{ kind: "blackhole", target: "k8s.zone=zone-a", radius: "all" }],
    story: { lesson: "gone", failing: ["/products"] },
} satisfies SavedExperiment;
