import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "The shop still lists its products while the database is cut off from the network.",
    attacks: [{ kind: "blackhole", target: "k8s.deployment=database" }],
    story: {
        lesson: "gone",
        failing: ["/products"],
        remedy: {
            what: "A fallback: `/products/parallel` answers with the lists that it has.",
            compare: "gateway-without-backends",
        },
    },
} satisfies SavedExperiment;
