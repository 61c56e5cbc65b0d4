import type { V1DeploymentSpec } from "../../values/kubernetes-types";
import { nodeConditions, nodeLabelPrefix, topologyLabels } from "../../targets/attributes";
import { onePerPod } from "../../targets/pods";
import { type AdviceKind, patchCommand } from "./advice-kind";
import { describeOutage, spansWithoutReadyPod, wouldHold } from "./failed-answers";

/** All replicas ran on the nodes that the target names, though there are others. */
export const oneZone: AdviceKind = (journal, facts) => {
    const [condition, ...others] = nodeConditions(journal.plan.attacks[0]!.target);
    const { name, spec, otherNodes = 0 } = facts;
    const pods = onePerPod(journal.attacks[0]!.targets);
    if (condition === undefined || condition.negated || others.length > 0 || otherNodes === 0) return undefined;
    if (pods.length < 2 || pods.length !== spec.replicas) return undefined;
    const { key, values } = condition;
    const topologyKey = (topologyLabels as Record<string, string>)[key] ?? key.slice(nodeLabelPrefix.length);
    if (isBound(spec, topologyKey)) return undefined;
    const spans = spansWithoutReadyPod(journal);
    if (!wouldHold(journal, spans)) return undefined;
    const constraint = {
        topologyKey,
        maxSkew: 1,
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: spec.selector,
        // Else the old pods count during the rollout.
        matchLabelKeys: ["pod-template-hash"],
    };
    return {
        seen:
            `All ${pods.length} replicas of Deployment ${name} ran on nodes with ${key} ${values.join(" or ")}, and ` +
            `${otherNodes} ${otherNodes === 1 ? "node has" : "nodes have"} another. Under attack, it had ` +
            describeOutage(journal, spans),
        change: `Spread the replicas over the values of ${topologyKey}`,
        command: patchCommand(facts, { template: { spec: { topologySpreadConstraints: [constraint] } } }),
    };
};

/** Whether the pods must run where they are, or must be spread already, so other nodes do not take them. */
function isBound({ template }: V1DeploymentSpec, topologyKey: string): boolean {
    const { nodeName, nodeSelector = {}, affinity, topologySpreadConstraints = [] } = template.spec!;
    return (
        nodeName !== undefined ||
        topologyKey in nodeSelector ||
        affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution !== undefined ||
        affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution !== undefined ||
        topologySpreadConstraints.some(
            (one) => one.topologyKey === topologyKey && one.whenUnsatisfiable === "DoNotSchedule",
        )
    );
}
