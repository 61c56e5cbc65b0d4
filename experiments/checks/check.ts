import type { Cluster } from "../../shared/kubernetes";
import type { Answer } from "./answer";
import { http, type HttpCheck } from "./http";
import { podsReady, type PodsReadyCheck } from "./podsReady";
import type { Route } from "./route";

/** What must hold while an attack lasts, as a saved experiment says it. */
export type Check = HttpCheck | PodsReadyCheck;

/** What every check may say, whatever its kind. */
export interface CheckSettings {
    /** Tells it from the experiment's other checks. @default what its kind calls it, as in `POST /orders` */
    name?: string;
    /** How often it looks, from 1 to 50 times a second. @default the stack's `experiment.interval` */
    perSecond?: number;
    /** How long an answer may take, in milliseconds. @default the stack's `experiment.timeout` */
    timeoutMs?: number;
    /** The share of good answers that it asks for, above 0 and up to 1. @default the stack's `experiment.successRate` */
    successRate?: number;
}

/** Where a check looks. */
export interface Surroundings {
    cluster: Cluster;
    /** The way to the gateway. */
    route: Route;
    shopNamespace: string;
    clusterName: string;
}

/** One kind of check: a file of its own in this folder, and a line in `checks`. */
export interface CheckKind<C extends Check> {
    /** For people, and to tell it from other checks. */
    name(check: C): string;
    /** What its good answers are, to complete "98% of 40 counted …". */
    describeGood(check: C): string;
    /** Looks once; never fails. */
    ask(check: C, around: Surroundings, timeoutMs: number): Promise<Answer>;
}

const checks: { [K in Check["kind"]]: CheckKind<Extract<Check, { kind: K }>> } = { http, podsReady };

/** The kind of a check, with all that is known of it. */
export function kindOfCheck<C extends Check>(check: C): CheckKind<C> {
    return checks[check.kind] as unknown as CheckKind<C>;
}

export function checkName(check: Check): string {
    return check.name ?? kindOfCheck(check).name(check);
}
