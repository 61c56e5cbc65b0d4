import type { SavedExperiment } from "../saved";

export default {
    hypothesis:
        "The gateway is alive, ready and answers while hot-deals and the database are cut off from the network.",
    attacks: [
        { kind: "blackhole", target: "k8s.deployment=hot-deals" },
        { kind: "blackhole", target: "k8s.deployment=database" },
    ],
    checks: [
        // A container that the kubelet restarts answers nothing for a second or two.
        { kind: "http", path: "/health/liveness", status: 200, perSecond: 4 },
        { kind: "podsReady", of: "k8s.deployment=gateway" },
        { kind: "http", path: "/products/parallel", status: 200, maxLatencyMs: 3_000 },
    ],
    story: {
        lesson: "gone",
        remedy: {
            what: "Its health asks no program that it can do without, and missing lists have a fallback.",
            compare: "database-blackhole",
        },
    },
} satisfies SavedExperiment;
