import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "A fault that delays nothing changes nothing: the shop lists its products through the proxy.",
    attacks: [{ kind: "fault", service: "hot-deals", radius: "all", delay: "0ms" }],
    story: {
        lesson: "slow",
        remedy: {
            what: "Nothing is late: this is what is left of a fault without its delay.",
            compare: "hot-deals-slow",
        },
    },
} satisfies SavedExperiment;
