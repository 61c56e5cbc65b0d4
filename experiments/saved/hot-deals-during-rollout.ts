import { threePodsThatStopGracefully } from "../remedies";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis:
        "The shop still lists its products if one container of hot-deals is cut off while the gateway is rolled out.",
    // Somebody begins that meanwhile: kubectl --namespace NAMESPACE rollout restart deployment/gateway
    begin: {
        when: {
            kind: "condition",
            name: "a rollout of the gateway",
            of: { apiVersion: "apps/v1", kind: "Deployment", name: "gateway" },
            field: "status.unavailableReplicas",
            atLeast: 1,
        },
    },
    attacks: [{ kind: "blackhole", target: "k8s.deployment=hot-deals" }],
    story: {
        lesson: "gone",
        failing: ["/products"],
        remedy: {
            ...threePodsThatStopGracefully("hot-deals"),
            what: "Three pods of hot-deals, and a gateway that goes on serving while it stops.",
        },
    },
} satisfies SavedExperiment;
