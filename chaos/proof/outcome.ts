import type { InconclusiveReason } from "../inconclusive";
import type { Working } from "./allowing-policies";

export type { InconclusiveReason };

export interface Inconclusive {
    inconclusive: InconclusiveReason;
    /** Connections that must fail, and work: another NetworkPolicy may allow them. Absent if that is not why. */
    working?: Working;
}

/** What must fail under the attack was tried before it: how long that took, or why it did not even work then. */
export type Baseline =
    | Inconclusive
    | {
          tookMs: number;
          /** Parts of the positive control that did not work before the attack, and are left out. @default none */
          leftOut?: string[];
      };

/** Since when the witness sees an attack work, by its clock, which may differ from this machine's. */
export interface Witnessed {
    witnessedAt: number;
    /** When it was asked, in milliseconds of `performance.now()`, which no change of a clock affects. */
    askedAt: number;
}

export interface Proven extends Witnessed {
    /** When the last part of the proof was given, by this machine's clock: the grace period begins. */
    attackedAt: number;
}

/** What to do about a cluster that accepts policies and ignores them. */
export const enforcementAdvice =
    "this cluster's network does not enforce NetworkPolicies. Use one that does, such as " +
    "`minikube start --cni=calico`";

/** What to think of a cluster that takes a policy for a larger one. */
export const overreachAdvice = "this cluster's network may not support all of NetworkPolicies, such as `endPort`";
