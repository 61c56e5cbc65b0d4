import { threePodsThatStopGracefully } from "../remedies";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "99 of 100 listings succeed at 50 requests a second while pods of hot-deals are killed, one every 5 s.",
    attacks: [{ kind: "kill", target: "k8s.deployment=hot-deals", intervalMs: 5_000 }],
    // One request a second may miss a gap of half a second. Fifty do not, and 1,000 of them show a rate to a percent.
    actions: [{ kind: "load", service: "gateway", path: "/products", perSecond: 50, successRate: 0.99 }],
    story: {
        lesson: "pods",
        failing: ["/products", "load on /products of gateway"],
        remedy: threePodsThatStopGracefully("hot-deals"),
    },
} satisfies SavedExperiment;
