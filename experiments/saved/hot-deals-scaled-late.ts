import { threePods } from "../remedies";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis:
        "99 of 100 listings succeed at 50 requests a second while the only pod of hot-deals does not run, because an " +
        "autoscaler adds others.",
    attacks: [{ kind: "fail", target: "k8s.deployment=hot-deals" }],
    actions: [
        { kind: "load", service: "gateway", path: "/products", perSecond: 50, successRate: 0.99 },
        // As late as a HorizontalPodAutoscaler: it looks every 15 s, at metrics that are up to 15 s old.
        { kind: "wait", durationMs: 20_000 },
        { kind: "scale", deployment: "hot-deals", replicas: 4 },
    ],
    story: {
        lesson: "pods",
        failing: ["/products", "load on /products of gateway"],
        remedy: threePods("hot-deals"),
    },
} satisfies SavedExperiment;
