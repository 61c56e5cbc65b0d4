import type { V1Job, V1ObjectMeta, V1OwnerReference, V1Pod } from "../values/kubernetes-types";
import { randomUUID } from "node:crypto";
import { poll } from "../values/async";
import { type Cluster, messageOf, statusOf } from "../cluster/client";
import { isNoDryRun, isRejection, problemOf } from "../cluster/problem";
import { resources } from "../cluster/resources";
import type { Plan } from "../definition/plan";
import { missingRights } from "../rights/review";
import { rightToTryPods } from "../rights/table";
import { ReasonError } from "../values/reasons";
import type { Room, StepContext } from "./contract";
import { policyOfJob } from "./other-policies";

interface DryRunObject {
    kind: "Job" | "NetworkPolicy" | "Pod" | "Service";
    metadata: V1ObjectMeta & { name: string };
    /** What it is, for people. @default its kind and name */
    what?: string;
}

/** How long a quota may still count deleted objects, and a new one may count nothing yet, in milliseconds. */
const sweptMs = 5_000;
const pauseMs = 500;

/** What the deadline Job is made of: the Job, its pod as the Job will make it, and the policy that lets it through. */
export function jobObjects({ job }: Room, plan: Plan, runName: string, pass: string): DryRunObject[] {
    const { metadata: ofPolicy, spec: rules } = policyOfJob(plan, runName, pass);
    const policy = { kind: "NetworkPolicy" as const, metadata: ofPolicy, spec: rules };
    if (job === undefined) return [policy];
    const { metadata, spec } = job as V1Job;
    const name = metadata!.name!;
    const { template } = spec!;
    const owner: V1OwnerReference = { apiVersion: "batch/v1", kind: "Job", name, uid: randomUUID(), controller: true };
    const pod = {
        kind: "Pod" as const,
        what: `pod of the Job ${name}`,
        metadata: {
            ...template.metadata,
            name: `${name}-trial`,
            labels: { ...template.metadata?.labels, "batch.kubernetes.io/job-name": name },
            ownerReferences: [owner],
        },
        spec: template.spec,
    };
    return [job as DryRunObject, pod, policy];
}

/**
 * Tries by dry runs whether a namespace admits objects that a run will make. What cannot be tried is found out later.
 *
 * @throws ReasonError in the words of the quota, the limits or the policy that rejects some
 */
export async function requireRoom(context: StepContext, objects: readonly object[]): Promise<void> {
    const { namespace, settings } = context.plan;
    const look = async () =>
        (await Promise.all(objects.map((one) => whyRejected(context, one as DryRunObject)))).flat();
    const isFinal = (all: readonly string[]) => !all.some((one) => /quota/.test(one));
    const rejected = await poll(look, isFinal, sweptMs, pauseMs);
    if (rejected.length === 0) return;
    const option = rejected.some((one) => ofOpenShift.test(one))
        ? "OpenShift gives pods their user ids itself: in the program, pod.runAsUser: false"
        : "`pod` of the experiment sets labels and more on its pods";
    const inProgram = settings === undefined ? `; ${option}` : "";
    throw new ReasonError(
        "no-room",
        `namespace ${namespace} admits no ${rejected.join("; no ")}`,
        `Make room or allow it${inProgram}`,
    );
}

/**
 * Whether the cluster keeps the fields by which the deadline Job's pod is replaced at once: an API server without one
 * of them leaves it out. Where that cannot be tried, it is said, and taken for no. Never rejects.
 */
export async function replacesAtOnce(
    { plan: { namespace }, cluster, say }: StepContext,
    { job }: Room,
): Promise<boolean> {
    if (job === undefined) return false;
    const { metadata, spec } = job as V1Job;
    // A Job of an earlier run may still have the name.
    const body = { metadata: { ...metadata, name: undefined, generateName: "chaos-trial-" }, spec };
    const trial = cluster.create({ resource: resources.job, namespace }, body, { dryRun: "All" });
    const kept = await trial.catch((error: unknown) => {
        say(
            "A dry run does not show whether the cluster replaces the Job's pod at once: if somebody deletes it, the " +
                `next may take minutes (${problemOf(error)})`,
        );
    });
    return kept?.spec?.backoffLimitPerIndex !== undefined && kept.spec.successPolicy !== undefined;
}

/** @returns what it is and why, unless it is admitted or cannot be tried */
async function whyRejected(
    { plan: { namespace }, cluster, say }: StepContext,
    object: DryRunObject,
): Promise<string[]> {
    const { kind, metadata, what = `${kind} ${metadata.name}`, ...rest } = object;
    const body = { ...rest, metadata: { ...metadata, namespace } };
    // The account of a pod does not exist yet, and the API server would look for it.
    if (kind === "Pod") (body as V1Pod).spec = { ...(body as V1Pod).spec!, serviceAccountName: undefined };
    try {
        const resource = Object.values(resources).find((one) => one.kind === kind)!;
        await cluster.create({ resource, namespace }, body, { dryRun: "All" });
        return [];
    } catch (error) {
        // Whoever rejects objects has been asked before the API server looks whether there is one of that name (409).
        if (statusOf(error) === 409) return [];
        if (!isRejection(error)) throw error;
        if (saysNothing(error)) {
            say(`A dry run does not show whether namespace ${namespace} admits ${what}: ${problemOf(error)}`);
            return [];
        }
        if (kind === "Pod" && (await mayMakeNone(cluster, namespace))) return [];
        return [`${what}: ${problemOf(error)}`];
    }
}

/**
 * Whether a dry run was rejected that says nothing of the object. Some webhooks cannot do without side effects. Some
 * API servers let owners be set only by who may delete a pod. And the trial has the namespace's default account, which
 * some policies refuse: of a policy that refuses the run's own, too, the words are at least printed. Not OpenShift's,
 * which say of each constraint that an account may not use it: nobody has given the run's own account another one.
 */
function saysNothing(error: unknown): boolean {
    const message = messageOf(error);
    if (isNoDryRun(error) || /cannot set an ownerRef/i.test(message)) return true;
    return /service ?account/i.test(message) && !ofOpenShift.test(message);
}

const ofOpenShift = /security context constraint/i;

async function mayMakeNone(cluster: Cluster, namespace: string): Promise<boolean> {
    const needed = rightToTryPods(namespace).map((right) => ({ ...right, without: undefined }));
    return (await missingRights(cluster, needed)).length > 0;
}
