import type { Loan } from "../../cluster/lend";
import { failInJob } from "./fail/fail-in-job";
import { stoppedContainers } from "./fail/image";
import { faultInJob } from "./fault/fault-in-job";
import { pointedService } from "./fault/pointing";
import type { BeginInJob, JobContext, JobPart } from "./job-part";
import { killInJob } from "./kill/kill-in-job";
import type { OtherKind } from "./registry";
import { stressInJob } from "./stress/stress-in-job";

/**
 * What the deadline Job does for the kinds that are no NetworkPolicies. It is bundled with the Job, so it imports no
 * schema and no Pulumi.
 */
export const jobParts: Readonly<Record<OtherKind, BeginInJob<never>>> = {
    fail: failInJob,
    fault: faultInJob,
    kill: killInJob,
    stress: stressInJob,
};

/** What attacks borrow. */
export const loansOfAttacks: readonly Loan[] = [pointedService, stoppedContainers];

export const beginInJob = (kind: string, told: object | undefined, context: JobContext): JobPart =>
    kind in jobParts ? jobParts[kind as OtherKind](told as never, context) : {};
