import type { Restorable } from "../../cluster/resources";
import { faultInJob } from "./fault/fault-in-job";
import { pointedService } from "./fault/pointing";
import type { BeginInJob, JobContext, JobPart } from "./job-part";
import { killInJob } from "./kill/kill-in-job";

/**
 * The kinds for which the deadline Job does something. They are bundled with the Job, so they import no schema and no
 * Pulumi.
 */
const parts: Readonly<Record<string, BeginInJob<never>>> = { fault: faultInJob, kill: killInJob };

export const restorablesOfAttacks: readonly Restorable[] = [pointedService];

export const beginInJob = (kind: string, told: object | undefined, context: JobContext): JobPart =>
    parts[kind]?.(told as never, context) ?? {};
