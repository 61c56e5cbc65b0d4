import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "The shop still lists its products while its message broker is cut off from the network.",
    attacks: [{ kind: "blackhole", target: "k8s.deployment=message-broker" }],
    variant: "seven",
    story: {
        lesson: "gone",
        remedy: { what: "The listing does not need the broker, only the database.", compare: "database-blackhole" },
    },
} satisfies SavedExperiment;
