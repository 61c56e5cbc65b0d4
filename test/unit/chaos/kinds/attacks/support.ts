import { denying, type Peers } from "../../../../../chaos/policies/denial";
import { type Attack, attackKindOf } from "../../../../../chaos/kinds/attacks/registry";

/** The rules of an attack's NetworkPolicy. */
export const denialOf = (attack: Attack, peers: Peers = { pods: [] }) =>
    denying(attackKindOf(attack).denies!(attack), peers, "demo");
export const proofOf = (attack: Attack) => attackKindOf(attack).proof(attack);
