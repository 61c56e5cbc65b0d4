import type { V1Pod } from "../../values/kubernetes-types";
import type { NewPolicy } from "../../policies/own-policies";
import { isAllDenied } from "../../policies/denial";
import { withoutLine } from "../../policies/exemption";
import { ways } from "../../policies/rules";
import { selects } from "../../policies/selector";
import { groupedBy } from "../../values/grouped";
import { ReasonError } from "../../values/reasons";
import type { RunAttack } from "./attack-kind";
import { type Attack, attackKindOf } from "./registry";

/**
 * Refuses a run in which one attack denies connections that another makes: the run would fail under attack, or denied
 * traffic would pass through the other.
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

/** Refuses what attacks of one kind have found only together. @throws ReasonError as their `refuseTogether` does */
export function refuseTogether(attacks: readonly RunAttack<Attack>[]): void {
    for (const same of groupedBy(attacks, ({ attack }) => attack.kind).values())
        attackKindOf(same[0]!.attack).refuseTogether?.(same);
}

/** A fault, and the policies that let its proxy work among others; see `admit` of `AttackKind`. */
export interface AdmittedAttack {
    attack: RunAttack<Attack>;
    needed: readonly NewPolicy[];
}

/**
 * Refuses a run in which one attack keeps a pod from the proxy of another: that pod would be cut off from the Service,
 * although neither attack says so. Policies for a proxy leave out the targets of the run, whose own policies do not
 * know it.
 *
 * @param pods of the namespace
 * @throws ReasonError that names both, and the pod
 */
export function refuseKeptFromProxy(
    admitted: readonly AdmittedAttack[],
    attacks: readonly RunAttack<Attack>[],
    pods: readonly V1Pod[],
): void {
    for (const { attack: fault, needed } of admitted)
        for (const { adds, spec } of needed)
            for (const { name, attack, chosen } of adds ? attacks : []) {
                const denial = attackKindOf(attack).denies?.(attack);
                if (denial === undefined || ways.every((way) => spec[way] === undefined || isAllDenied(denial, way)))
                    continue;
                const podSelector = withoutLine(spec.podSelector);
                const isTarget = ({ metadata }: V1Pod) => chosen.targets.some(({ uid }) => uid === metadata!.uid);
                const pod = pods.find((one) => isTarget(one) && selects(podSelector, one.metadata!.labels ?? {}));
                if (pod === undefined) continue;
                throw new ReasonError(
                    "attack-refused",
                    `${name} would keep ${pod.metadata!.name} from the proxy of ${fault.name}: among the namespace's ` +
                        "NetworkPolicies, no policy of the run would let them connect",
                    `Give ${name} other pods, or have one experiment for each`,
                );
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
