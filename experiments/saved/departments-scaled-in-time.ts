import { productsCheck } from "../products";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "The shop lists its products again in time: hot-deals and toys-bestseller are scaled up while cut off.",
    attacks: [
        { kind: "blackhole", target: "k8s.deployment=hot-deals" },
        { kind: "blackhole", target: "k8s.deployment=toys-bestseller" },
    ],
    checks: [
        productsCheck,
        { kind: "podsReady", of: "k8s.deployment=hot-deals" },
        { kind: "podsReady", of: "k8s.deployment=toys-bestseller" },
    ],
    actions: [
        { kind: "wait", durationMs: 2_000 },
        { kind: "scale", deployment: "hot-deals", replicas: 2 },
        { kind: "scale", deployment: "toys-bestseller", replicas: 2 },
    ],
    story: {
        lesson: "pods",
        remedy: { what: "More pods, even if they come after the attack.", compare: "hot-deals-blackhole" },
    },
} satisfies SavedExperiment;
