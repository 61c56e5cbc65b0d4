import type { types } from "@pulumi/kubernetes";
import type * as z from "zod";

/**
 * One kind of attack: a file of its own in this folder, and its lines in `registry.ts`.
 *
 * @typeParam A what a definition says of such an attack, its `kind` included
 */
export interface AttackKind<A extends { kind: string }> {
    /** What a definition may say; anything else is a mistake. */
    schema: z.ZodType<A>;
    /** What is done, for people: completes "hot-deals-1 is …", as in "cut off from the network". */
    describe(attack: A): string;
    /**
     * The rules of the NetworkPolicy that selects the targets. Absent if the attack is not a NetworkPolicy.
     *
     * @param peers addresses of the pods that the attack's `peers` describe
     */
    rules?(attack: A, peers?: readonly string[]): Omit<types.input.networking.v1.NetworkPolicySpec, "podSelector">;
    /** How often the deadline Job deletes pods. Absent if the attack deletes none. */
    killing?(attack: A): { intervalMs: number };
    proof(attack: A): Proof;
}

/** What must work before an attack, and must fail under it. */
export interface Proof {
    /** Fresh TCP connections from another pod to the targets: to these ports, or to all declared ports. */
    inward?: { ports?: readonly number[] };
    /** Fresh TCP connections from the targets to another pod, on this port. */
    outward?: { port: number };
    /**
     * Fresh TCP connections between targets and peers: in these directions, to these ports or to all declared ports.
     */
    peers?: { ways: readonly ("ingress" | "egress")[]; ports?: readonly number[] };
    /** A DNS lookup of a name, made in the targets. */
    lookup?: { name: string };
    /** The targets, and the pods that were killed after them, must be gone. Pods are identified by uid. */
    deleted?: true;
}
