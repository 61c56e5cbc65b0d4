import * as z from "zod";
import type { Cluster } from "../../cluster/client";
import type { Right } from "../../cluster/resources";
import { type AbortSettings, abortSettingsSchema } from "./abort";
import type { Answer } from "./answer";
import {
    latencySchema,
    type LatencySettings,
    type RateSettings,
    requiredRate,
    successRateSchema,
} from "./change-limits";
import { type ConfidenceSettings, confidenceSettingsSchema } from "./confidence";
import { parseDuration, times } from "../../values/duration";
import type { ApiServerPulse } from "./api-server";
import type { Endpoints, Usual } from "./endpoints";
import type { NamedService } from "./route";
import type { ServiceReference } from "./service";

/** What a check of any kind may say. */
export interface CheckSettings extends AbortSettings {
    /** Unique in the experiment, at most 60 characters. @default by its kind, such as `POST /orders` */
    name?: string;
    /** Probes per second, 1 to 50. @default by the experiment's `interval` */
    perSecond?: number;
    /** Time limit of one probe, in milliseconds, 100 to 60 000. @default the experiment's `timeout` */
    timeoutMs?: number;
    /**
     * Required share of good answers, above 0 and up to 1; or how much lower than before the attack it may be, such as
     * `{ dropAtMost: "1%" }`, but not if it reads a state, as `podsReady` does. @default the experiment's `successRate`
     */
    successRate?: number | RateSettings;
    /**
     * How much slower its answers may be than before the attack, such as `{ p95: { atMost: "2x" } }`. Not if it
     * reads a state, as `podsReady` does. @default the experiment's `latency`
     */
    latency?: LatencySettings;
    /**
     * What its answers must show for `PASSED`. Not if it reads a state, as `podsReady` does.
     * @default the experiment's `confidence`
     */
    confidence?: ConfidenceSettings;
}

/** As many probes as there are with the shortest interval. */
export const mostPerSecond = 1_000 / parseDuration(times.interval.least)!;

export const checkSettingsSchema = {
    name: z.string().trim().min(1).max(60).optional(),
    perSecond: z.number().min(1).max(mostPerSecond).optional(),
    timeoutMs: z.int().min(parseDuration(times.timeout.least)!).max(parseDuration(times.timeout.most)!).optional(),
    successRate: successRateSchema.optional(),
    latency: latencySchema.optional(),
    confidence: confidenceSettingsSchema.optional(),
    ...abortSettingsSchema,
};

/**
 * A check's interval in milliseconds and required success rate, with the experiment's for what it does not set: what
 * its abort rule, confidence and limits are compared with.
 */
export const completed = (
    { perSecond, successRate }: CheckSettings,
    defaults: { intervalMs: number; successRate: number },
) => ({
    intervalMs: perSecond === undefined ? defaults.intervalMs : 1_000 / perSecond,
    // What limits only a drop contradicts nothing.
    successRate: requiredRate(successRate, defaults.successRate) ?? 1,
});

export interface CheckContext {
    cluster: Cluster;
    endpoints: Endpoints;
    /** Tells failures of the API server from the application's. @default they are not distinguished */
    pulse?: ApiServerPulse;
    /** By this key, the traces that it begins are recognized as those of a check. @default they are not */
    traceKey?: string;
    /** The namespace of objects for which a check names none. */
    defaultNamespace: string;
    clusterName: string;
}

export interface CheckPlace {
    /** The namespace of objects for which a check names none. */
    defaultNamespace: string;
    /** The Service of http checks. Absent if there are none. */
    service?: ServiceReference;
}

/** The Service of the plan, for checks that name no other. */
export const plansService = Symbol("the plan's Service");

/** One kind of check: a file in this folder, and its lines in `registry.ts`. */
export interface CheckKind<C extends { kind: string }> {
    /** What a definition may say; anything else is a mistake. */
    schema: z.ZodObject & z.ZodType<C>;
    /** Checks that need different rights, for the docs and for tests. Names are in capitals. */
    examples: readonly C[];
    /** The check's name if the definition gives none. */
    name(check: C): string;
    /** What is counted and what makes it good: completes "98% of 40 …", as in "requests to /products succeeded". */
    describeSuccess(check: C): string;
    /**
     * Set if each probe is a trial, such as a request: then the number of answers shows something of the next one.
     * @default it reads a state, which lasts from one probe to the next, so that more probes show no more
     */
    isTrial?: true;
    rights(check: C, place: CheckPlace): Right[];
    /** Set if it shows how fast the application is. */
    showsLatency?: true;
    /** The latency above which an answer is bad, in milliseconds. @default only the time limit applies */
    limitMs?(check: C): number | undefined;
    /** Set if a stall of this machine's network could make an answer bad: the API server is watched meanwhile. */
    overNetwork?: true;
    /** The Service of the application that it asks. @default none */
    asks?(check: C, defaultNamespace: string): typeof plansService | NamedService | undefined;
    /** How it asks a Service. */
    usual?: Usual;
    /** Sends one probe; never rejects. */
    probe(check: C, context: CheckContext, timeoutMs: number): Promise<Answer>;
}
