import type { V1Node, V1Pod } from "../../chaos/values/kubernetes-types";
import { groupedBy } from "../../chaos/values/grouped";
import { isReady } from "../../chaos/targets/containers";

/** What of a cluster no update waits for. */
export interface LeftOut {
    /** How many of the pods that a DaemonSet counts, one a node, cannot become ready, since their nodes are not. */
    pods: number;
    /** How many nodes have no pod that could become ready, and why: `1 not ready, 2 with windows`. Empty if none. */
    why: string;
}

/** @param pods of the DaemonSet @param nodes all of the cluster */
export function leftOutOf(pods: readonly V1Pod[], nodes: readonly V1Node[]): LeftOut {
    const byNode = groupedBy(pods, ({ spec }) => spec?.nodeName);
    const podsOn = ({ metadata }: V1Node) => byNode.get(metadata!.name) ?? [];
    const isLost = (node: V1Node) => !isUp(node) && !podsOn(node).some(isReady);
    const reasons = nodes.filter((node) => isLost(node) || podsOn(node).length === 0).map(whyLeftOut);
    const counted = [...new Set(reasons)].map(
        (reason) => `${reasons.filter((one) => one === reason).length} ${reason}`,
    );
    const lost = nodes.filter((node) => isLost(node) && podsOn(node).length > 0);
    // A surge of an update, or an evicted pod, is a second one on its node, which the DaemonSet does not count.
    return { pods: lost.length, why: counted.join(", ") };
}

const isUp = ({ status }: V1Node) => status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";

function whyLeftOut(node: V1Node): string {
    const labels = node.metadata?.labels ?? {};
    if (!isUp(node)) return "not ready";
    const system = labels["kubernetes.io/os"] ?? "linux";
    if (system !== "linux") return `with ${system}`;
    if (isVirtual(labels)) return "virtual";
    return "not selected or not tolerated";
}

const isVirtual = (labels: Record<string, string>) => virtualNodes.some(({ key, value }) => labels[key] === value);

/** Labels of nodes that stand for a service, which runs no DaemonSets: AWS Fargate's, and those of virtual-kubelet. */
export const virtualNodes = [
    { key: "eks.amazonaws.com/compute-type", value: "fargate" },
    { key: "type", value: "virtual-kubelet" },
] as const;
