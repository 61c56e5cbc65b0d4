import { denying, type Peers } from "../../../../../chaos/policies/denial";
import { type Attack, attackKindOf } from "../../../../../chaos/kinds/attacks/registry";

/** The rules of an attack's NetworkPolicy. */
export const denialOf = (attack: Attack, peers: Peers = { pods: [] }) =>
    denying(attackKindOf(attack).denies!(attack), peers, "demo");
export const proofOf = (attack: Attack) => attackKindOf(attack).proof(attack);

export interface PortRange {
    protocol: string;
    port?: number;
    endPort?: number;
}

/** Whether a rule with these ports allows one of them. */
export const allows = (ranges: PortRange[], protocol: string, port: number) =>
    ranges.some(
        (one) => one.protocol === protocol && (one.port === undefined || (port >= one.port && port <= one.endPort!)),
    );
