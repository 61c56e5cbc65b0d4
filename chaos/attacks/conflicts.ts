import { ReasonError } from "../reasons";
import type { RunAttack } from "./kind";
import { type Attack, attackKindOf } from "./registry";

/**
 * Refuses a run of which one attack denies connections that another makes: that would be found out under attack, or
 * what was denied would come by way of the other.
 *
 * @throws ReasonError that names both, and the pod
 */
export function refuseConflicts(attacks: readonly RunAttack<Attack>[]): void {
    for (const { name: connecting, attack, chosen } of attacks) {
        const connections = attackKindOf(attack).connects?.(chosen.found) ?? [];
        const isDenied = (pod: string, ports: readonly number[] | undefined) =>
            connections.some((one) => one.pod === pod && one.ports.some((port) => ports?.includes(port) ?? true));
        for (const denying of attacks) {
            const denied = deniedPods(denying).find(({ pod, ports }) => isDenied(pod, ports));
            if (denied === undefined) continue;
            throw new ReasonError(
                "attack-refused",
                `${denying.name} would deny connections to ${denied.pod}, a pod of ${chosen.origin}, and ` +
                    `${connecting} would connect to it in its callers' place`,
                `Give ${denying.name} other pods, or have one experiment for each`,
            );
        }
    }
}

/** The pods to which an attack denies connections from others, and the ports, if not all. */
function deniedPods({ attack, chosen }: RunAttack<Attack>): { pod: string; ports?: readonly number[] }[] {
    const { inward, peers } = attackKindOf(attack).proof(attack);
    const from = (pods: readonly { pod: string }[] = [], ports?: readonly number[]) =>
        pods.map(({ pod }) => ({ pod, ports }));
    return [
        ...(inward ? from(chosen.targets, inward.ports) : []),
        ...(peers?.ways.includes("ingress") ? from(chosen.targets, peers.ports) : []),
        ...(peers?.ways.includes("egress") ? from(chosen.peers, peers.ports) : []),
    ];
}
