import type { types } from "@pulumi/kubernetes";
import { type BlackholeAttack, blackhole } from "./blackhole";
import { type DnsAttack, dns } from "./dns";
import { type KillAttack, kill } from "./kill";

/** What is done to the targets, as a saved experiment says it. */
export type Attack = BlackholeAttack | DnsAttack | KillAttack;

/** One kind of attack: a file of its own in this folder, and a line in `attacks`. */
export interface AttackKind<A extends Attack> {
    /** For people: what is done, as in "cut off the network". */
    describe(attack: A): string;
    /**
     * What a NetworkPolicy that selects the targets says, its selector aside. Absent where the attack is none.
     *
     * @param peers addresses of the pods that the attack's `peers` describe
     */
    rules?(attack: A, peers?: readonly string[]): Omit<types.input.networking.v1.NetworkPolicySpec, "podSelector">;
    /** How often the deadline's Job kills. Absent where it does not. */
    killing?(attack: A): { intervalMs: number };
    /** What must fail for the attack to be proven. */
    proof(attack: A): Proof;
}

/** What must work before an attack, and must fail under it. */
export interface Proof {
    /** Fresh TCP connections from another pod to the targets: to these ports, or to all that they declare. */
    inward?: { ports?: readonly number[] };
    /** Fresh TCP connections from the targets to another pod: to this port. */
    outward?: { port: number };
    /** Fresh TCP connections between the targets and their peers, this way or that: to these ports, or to all that are declared. */
    peers?: { ways: readonly ("ingress" | "egress")[]; ports?: readonly number[] };
    /** Looking up a name in the targets. */
    lookup?: { name: string };
    /** The targets themselves, and whoever else was to be killed: known by their uid, they must be gone. */
    deleted?: true;
}

const attacks: { [K in Attack["kind"]]: AttackKind<Extract<Attack, { kind: K }>> } = { blackhole, dns, kill };

/** The kind of an attack, with all that is known of it. */
export function kindOf<A extends Attack>(attack: A): AttackKind<A> {
    return attacks[attack.kind] as unknown as AttackKind<A>;
}
