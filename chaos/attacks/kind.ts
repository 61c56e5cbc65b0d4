import type * as z from "zod";
import type { Restores } from "../cluster/resources";
import type { Denial } from "../policies/denial";
import type { Abort } from "./fault/proxy/protocol";

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
    /** The traffic that a NetworkPolicy denies the targets. Absent if the attack is not a NetworkPolicy. */
    denies?(attack: A): Denial;
    /** How often the deadline Job deletes pods. Absent if the attack deletes none. */
    killing?(attack: A): { intervalMs: number };
    /** What callers meet through a Service whose place a proxy takes. Absent if none does. */
    through?(attack: A): Through;
    /** What it changes in the cluster besides its own objects, and must be restored. Absent if there is nothing. */
    restores?: Restores<A>;
    /** A mistake that lies in several fields. Absent if there can be none. */
    mistake?(attack: A): { field: string; message: string } | undefined;
    /** Set if pods that are not ready cannot be hit. */
    onlyReady?: true;
    proof(attack: A): Proof;
}

/** A Service, and what its proxy does to the requests that go to the targets. */
export interface Through {
    service: string;
    delayMs: number;
    abort?: Abort;
    /** Of the requests, above 0 and up to 100. */
    percentage: number;
}

/** What must work before an attack and fail under it; and, in `stillWorks`, what must work under it, too. */
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
    /** What callers meet at the targets through a Service. */
    through?: Through;
    /** The targets, and the pods that were killed after them, must be gone. Pods are identified by uid. */
    deleted?: true;
    /** @default nothing is tried */
    stillWorks?: StillWorks;
}

/**
 * The positive control: what the attack must leave alone. Without it, an attack that a network takes for a larger one
 * would be told as what it was meant to be.
 */
export interface StillWorks {
    /** Fresh TCP connections from another pod to the targets: to all declared ports but these. */
    inward?: { except: readonly number[] };
    /** Fresh TCP connections from the targets to another pod, on this port. */
    outward?: { port: number };
    /** Fresh TCP connections between targets and peers: in these directions, to all declared ports but these. */
    peers?: { ways: readonly ("ingress" | "egress")[]; except: readonly number[] };
    /** Fresh TCP connections from the witness to one of some pods that are no targets. */
    untouched?: true;
    /** Connections through the attack's Service to its pods that are no targets: neither delayed nor aborted. */
    through?: true;
}
