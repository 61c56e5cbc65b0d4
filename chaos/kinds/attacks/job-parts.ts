import type { Loan } from "../../cluster/lend";
import { failInJob } from "./fail/fail-in-job";
import { stoppedContainers } from "./fail/image";
import { faultInJob } from "./fault/fault-in-job";
import { pointedService } from "./fault/pointing";
import type { BeginInJob, JobContext, JobPart } from "./job-part";
import { killInJob } from "./kill/kill-in-job";
import { stressInJob } from "./stress/stress-in-job";

/**
 * The kinds for which the deadline Job does something. They are bundled with the Job, so they import no schema and no
 * Pulumi.
 */
const parts: Readonly<Record<string, BeginInJob<never>>> = {
    fail: failInJob,
    fault: faultInJob,
    kill: killInJob,
    stress: stressInJob,
};

/** What attacks borrow. */
export const loansOfAttacks: readonly Loan[] = [pointedService, stoppedContainers];

export const beginInJob = (kind: string, told: object | undefined, context: JobContext): JobPart =>
    parts[kind]?.(told as never, context) ?? {};
