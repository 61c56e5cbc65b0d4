import * as z from "zod";
import type { Cluster } from "../../cluster/client";
import type { V1Pod } from "../../values/kubernetes-types";
import type { PodOptions } from "../../pods/pod-options";
import type { ExperimentPrograms } from "../../pods/built-programs";
import { milliseconds, shareSchema } from "../../values/texts";

/**
 * What an action does beside the whole run, by a pod of its own: it begins before the attacks, so that the steady state
 * is seen under it, and lasts until the run is over. The pod has no rights in the cluster, and is deleted when
 * the run ends.
 */
export interface Beside<A> {
    /** Its name in reports, unique in the experiment. */
    name(action: A): string;
    /** The containers of its pod, whose logs the reader gets. */
    containers(action: A): string[];
    /** Its pod, as the program makes it: what only the cluster knows is missing. */
    podSpec(action: A, made: BesidePodArgs): object;
    /**
     * Its pod, completed by what the cluster says.
     *
     * @throws ReasonError if it cannot do what it is to do
     */
    equip(action: A, pod: V1Pod, where: { cluster: Cluster; namespace: string }): Promise<V1Pod>;
    /** Reads what it has done by the logs of its pod. */
    reader(action: A): BesideReader;
    /** After how long all is known of what was due, at most, in milliseconds. */
    settlesMs(action: A): number;
}

export interface BesidePodArgs {
    /** A Node image. */
    image: string;
    programs: Pick<ExperimentPrograms, "sender">;
    pod?: PodOptions;
    /** How long it may last in any case, in seconds. */
    lastsSeconds: number;
}

/** Takes in a log as it is read, the whole or what is new, and says what it shows. */
export interface BesideReader {
    /** @param readAt after the log was read, in milliseconds since the epoch */
    read(log: string, readAt: number): void;
    /** What was done in the last seconds in a row of which all is known. Undefined if there are not so many. */
    last(seconds: number): Delivery | undefined;
    /** What was done in a time of this machine's clock, by whole seconds. What is not reported counts as not sent. */
    between(from: number, to: number): Delivery;
    /** Whether all is known of what was due in such a time. */
    isKnown(from: number, to: number): boolean;
    /** Why it is not what it was to be. @param runs whether its pod runs */
    whyUnfit(runs: boolean): string | undefined;
}

/** A share of what was due that is required. */
const requiredShare = z.object({
    of: z.enum(["successRate", "p50", "p95", "p99"]),
    required: shareSchema,
    withinMs: milliseconds.optional().describe("The latency that a quantile may have; absent of the success rate"),
    met: z.int().nonnegative().describe("Requests that met it"),
    unknown: z.int().nonnegative().describe("Requests of which that is not known, such as those that were not sent"),
});
export type RequiredShare = z.infer<typeof requiredShare>;

/** What an action has sent in a time, whole seconds. */
export const deliverySchema = z.object({
    name: z.string(),
    seconds: z.int().nonnegative().describe("Length of that time"),
    due: z.int().nonnegative().describe("Requests that were due in it"),
    sent: z.int().nonnegative().describe("Those that were sent on time"),
    busy: z
        .int()
        .nonnegative()
        .describe("Those that were not, since all connections, or VUs of k6, waited for answers"),
    unsent: z
        .record(z.string(), z.int().positive())
        .describe("Those that its pod could not send, by why, such as `ENOTFOUND`"),
    unreported: z.int().nonnegative().describe("Those of which nothing was reported"),
    good: z.int().nonnegative(),
    unseen: z.int().nonnegative().describe("Sent, but the sender may have missed the answer because it did not run"),
    bad: z.record(z.string(), z.int().positive()).describe("Bad answers, by what was wrong with them"),
    latencyMs: z
        .object({ p50: milliseconds, p95: milliseconds, p99: milliseconds, most: milliseconds })
        .optional()
        .describe("Of good answers, since they were due; at most 5% too long. Absent if there are none"),
    shares: z.array(requiredShare).describe("What is required of it"),
    problem: z.string().optional().describe("Why its pod does not run any more, if it does not"),
});
export type Delivery = z.infer<typeof deliverySchema>;

/** Of what is due, at least this share must be sent on time: with less, it is another load. */
export const deliveredShare = 0.98;
