import type { Kind } from "./kind";
import { deniedByOthers, failed, replaced, withoutJob } from "./right-verdicts";
import { defaultDeny } from "./troubles/cluster";
import { jobOnSecondNode, nodeDrained, nodeKilled, targetsOnSecondNode } from "./troubles/nodes";

/** Others would lose pods, too. */
const onTwoNodes = { needs: { nodes: 2 }, alone: true } as const satisfies Partial<Kind>;

const withoutWitness = {
    shape: { hotDeals: 1, gateway: "LoadBalancer" },
    // Between the targets and who asks, nothing changes: only the witness is lost.
    allowed: { INCONCLUSIVE: withoutJob, ...failed },
    before: jobOnSecondNode,
    ...onTwoNodes,
} as const satisfies Partial<Kind>;

/** The API server is on the first node, and so is all that a kind does not place. */
export const kindsOnTwoNodes: readonly Kind[] = [
    {
        name: "node-killed",
        meaning: "the node of the deadline Job is lost, and still is when the next update undoes the attack",
        ...withoutWitness,
        trouble: nodeKilled("update"),
    },
    {
        name: "node-killed-deadline",
        meaning: "the node of the deadline Job is lost, and the attack ends at its deadline all the same",
        ...withoutWitness,
        trouble: nodeKilled("deadline"),
    },
    {
        name: "node-drained",
        meaning: "the target's node is drained: another pod takes its place on the other node",
        shape: { hotDeals: 1, gateway: "LoadBalancer" },
        allowed: { INCONCLUSIVE: replaced },
        before: targetsOnSecondNode,
        trouble: nodeDrained,
        ...onTwoNodes,
    },
    {
        name: "default-deny-other-node",
        meaning: "as default-deny; all pods are on another node than the API server",
        shape: { hotDeals: 3, gateway: "LoadBalancer", networkPolicies: false, zone: "zone-b" },
        allowed: { INCONCLUSIVE: deniedByOthers },
        needs: { nodes: 2 },
        trouble: defaultDeny,
    },
];
