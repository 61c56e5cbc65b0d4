import type { V1Node, V1Pod } from "@kubernetes/client-node";
import { isReady } from "../../chaos/targets/containers";

/** Nodes that a DaemonSet cannot be ready on, or does not run on. */
export interface LeftOut {
    /** Of the pods that its controller wants, those that cannot become ready: their nodes are not ready. */
    pods: number;
    /** How many nodes have no ready pod, and why, in words. Empty if all have one. */
    why: string;
}

/** @param pods of the DaemonSet @param nodes all of the cluster */
export function leftOutOf(pods: readonly V1Pod[], nodes: readonly V1Node[]): LeftOut {
    const without = nodes.filter(
        ({ metadata }) => !pods.some((pod) => pod.spec?.nodeName === metadata!.name && isReady(pod)),
    );
    const lost = new Set(without.filter((node) => !isUp(node)).map(({ metadata }) => metadata!.name));
    const reasons = without.map((node) => whyLeftOut(node));
    const counted = [...new Set(reasons)].map(
        (reason) => `${reasons.filter((other) => other === reason).length} ${reason}`,
    );
    return { pods: pods.filter(({ spec }) => lost.has(spec?.nodeName)).length, why: counted.join(", ") };
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
