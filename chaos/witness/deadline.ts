import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { attackKindOf, objectNameOf, objectTypeOf } from "../kinds/attacks/registry";
import { labels, metadataFor } from "../cluster/labels";
import { restrictedContainer } from "../pods/pod-security";
import { type Objects, pathOf } from "../cluster/resources";
import { type Plan, type PlannedAttack, targetLabelFor } from "../definition/plan";
import { besidesOf, changedBy } from "../ending/left";
import { jobPolicyName } from "../ending/scope";
import { jobNameOf } from "../pods/job-name";
import { leasePath } from "../lease/lease-record";
import { podProgram } from "../pods/packed";
import { type PodOptions, runPod } from "../pods/pod-options";
import { ruleOf } from "../rights/roles";
import { jobRightsOf } from "../rights/table";
import { podResources } from "../pods/pod-resources";
import {
    deadlineContainer,
    type DeadlineEnvironment,
    type JobAttack,
    type JobBasis,
    type LeaseOfRun,
} from "./protocol";

export interface DeadlineArgs {
    plan: Plan;
    basis: pulumi.Output<JobBasis>;
    /** A Node image. */
    image: string;
    /** The Job's program: the bundle of `job-program.ts`. */
    program: string;
    pod?: PodOptions;
}

/**
 * Bounds the program's memory well below the container's limit, at which the kernel kills it. Node alone needs 44 MiB;
 * with 2,000 targets the peak is 57 to 62 MiB, by how much of Node's own program is cached (4 MiB more with a heap of
 * 24 MiB), and among 60 objects of up to 1.3 MB each 65 MiB, since none is read as a whole: see `Sieve`. With a heap of
 * 16 MiB, 20 policies with a megabyte of selectors each ended the program before it could end the attack.
 */
export const heap = ["--max-semi-space-size=1", "--max-old-space-size=20", "--no-opt"];

/**
 * A Job that ends the attacks at the deadline if nothing else has, and watches meanwhile whether the labeled pods can
 * be reached. The Job runs before a pod is labeled, and the attacks begin only when it has seen the targets.
 *
 * What its account may do is in `rights/table.ts`. It is for that one namespace, but there for all pods and,
 * unless every attack is a kill, for all NetworkPolicies: RBAC cannot limit it to those that a run has changed.
 *
 * Not a component: for one the engine would write the whole state five more times in an experiment's few seconds.
 */
export class Deadline {
    readonly job: k8s.batch.v1.Job;
    /** Everything that the Job needs to end an attack. */
    readonly parts: pulumi.Resource[];

    constructor(name: string, args: DeadlineArgs, opts: pulumi.CustomResourceOptions) {
        const child = { ...opts, deleteBeforeReplace: true };
        // Each run has its own objects, so a sweep before a run never removes what that run is going to use.
        const objectName = args.basis.apply(({ runName }) => jobNameOf(runName));
        const { experiment, namespace, attacks } = args.plan;
        const rules = args.basis.apply(({ runName: run, mayMakeEvents = false }) =>
            jobRightsOf(
                attacks.map(({ name: of, attack }) => ({ attack, object: objectNameOf(run, of) })),
                changedBy(args.plan),
                jobNameOf(run),
                jobPolicyName(run),
                { mayMakeEvents, besides: besidesOf(args.plan, run) },
            ).map(ruleOf),
        );
        const { account, role, binding, program } = podResources(
            name,
            { object: objectName, namespace, experiment, rules, program: args.program },
            child,
        );
        this.job = new k8s.batch.v1.Job(
            name,
            {
                metadata: jobMetadata(objectName, args.plan),
                // A preview does not know the name: it leaves out the hundred lines that are the same for every run.
                spec: args.basis.apply((basis) => jobSpec({ ...args, ...basis })),
            },
            {
                ...child,
                // The account and the program must exist before the pod; its rights are needed only later.
                dependsOn: [account, program],
                // A Job's template is immutable: another version's would replace the Job, and so begin another run. A
                // plan that differs gives the Job another name, and with that all of its spec.
                ignoreChanges: ["spec"],
            },
        );
        this.parts = [account, role, binding, program, this.job];
    }
}

type KnownJob = JobBasis & Omit<DeadlineArgs, "basis">;

/** The Job, as the program makes it. */
export const jobObject = (job: KnownJob) => ({
    metadata: jobMetadata(jobNameOf(job.runName), job.plan),
    spec: jobSpec(job),
});

const jobMetadata = <N>(name: N, plan: Plan) => ({
    ...metadataFor(name, plan),
    // The provider would wait until the Job completes, when the attack is over. The step that labels the targets waits
    // for the Job: its own report comes a second before its status.
    annotations: { "pulumi.com/skipAwait": "true" },
});

function jobSpec(job: KnownJob) {
    const { labels: own, annotations, spec } = runPod(job.pod, lostNode);
    // The experiment's label keeps experiments from choosing this pod as a target.
    const ofRun = { [labels.experiment]: job.plan.experiment, [labels.pass]: job.pass };
    return {
        ...(isReplacedAtOnce(job) ? replacedAtOnce : { backoffLimit: maxInt32 }),
        // No `ttlSecondsAfterFinished`: an update with --refresh would create a Job that is gone again, and it would
        // kill pods without a lease or a check.
        template: { metadata: { labels: { ...own, ...ofRun }, annotations }, spec: { ...spec, ...podSpec(job) } },
    };
}

const maxInt32 = 2_147_483_647;

/** As many pods as a Job may have had: one that crashes at once is replaced every two seconds. */
const maxPods = 10_000;

/**
 * A Job waits 10 s before it replaces a pod that failed or was deleted, then 20 s, and so on, up to 10 min. So this one
 * does not replace its pod: that was for one index, and the next index has a pod at once, as many times as there are
 * indexes. The first that succeeds completes the Job. Kubernetes has both fields since 1.31.
 * https://kubernetes.io/docs/concepts/workloads/controllers/job/#backoff-limit-per-index
 */
const replacedAtOnce = {
    completionMode: "Indexed",
    completions: maxPods,
    parallelism: 1,
    backoffLimitPerIndex: 0,
    successPolicy: { rules: [{ succeededCount: 1 }] },
};

/** A pod of an Indexed Job has its index in its host name, of 63 characters at most. */
const isReplacedAtOnce = ({ replacesAtOnce, runName }: KnownJob) =>
    replacesAtOnce && `${jobNameOf(runName)}-${maxPods - 1}`.length <= 63;

/** The default is five minutes. Meanwhile nothing would end the attacks if the pod's node is lost. */
const lostNode = ["not-ready", "unreachable"].map((condition) => ({
    key: `node.kubernetes.io/${condition}`,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: 0,
}));

/**
 * `fieldRef` is an atomic map, in which the API server sets `apiVersion`: without it, a creation that is repeated after
 * a killed update, under another field manager, would have a conflict.
 */
const fieldOf = (fieldPath: string) => ({ fieldRef: { apiVersion: "v1", fieldPath } });

function podSpec(job: KnownJob) {
    const { plan, runName: run, image, program } = job;
    const { namespace } = plan;
    const lease: LeaseOfRun = { path: leasePath(namespace), run };
    const pathsOf = (objects: readonly Objects[]) =>
        JSON.stringify(objects.map((object) => pathOf({ ...object, namespace })));
    const besides = besidesOf(plan, run);
    const env: Omit<DeadlineEnvironment, "POD_IPS" | "POD_NAME"> = {
        NAMESPACE: namespace,
        ATTACKS: JSON.stringify(plan.attacks.map((planned) => jobAttack(plan, planned, run))),
        CHANGED: pathsOf(changedBy(plan)),
        ...(besides.length > 0 && { BESIDES: pathsOf(besides) }),
        DEADLINE_MS: String(plan.deadlineMs),
        LEASE: JSON.stringify(lease),
    };
    return {
        // A container that is restarted waits longer each time, too.
        restartPolicy: isReplacedAtOnce(job) ? "Never" : "OnFailure",
        serviceAccountName: jobNameOf(run),
        enableServiceLinks: false,
        terminationGracePeriodSeconds: 1,
        containers: [
            {
                name: deadlineContainer,
                image,
                command: ["node", ...heap, ...podProgram(program).args],
                env: [
                    ...Object.entries(env).map(([name, value]) => ({ name, value })),
                    // Its network interfaces may have others, at which no pod of another node reaches it.
                    { name: "POD_IPS", valueFrom: fieldOf("status.podIPs") },
                    { name: "POD_NAME", valueFrom: fieldOf("metadata.name") },
                ],
                volumeMounts: podProgram(program).volumeMounts,
                resources: { requests: { cpu: "10m", memory: "48Mi" }, limits: { cpu: "1", memory: "96Mi" } },
                securityContext: restrictedContainer,
            },
        ],
        volumes: [{ name: "program", configMap: { name: jobNameOf(run) } }],
    };
}

function jobAttack(plan: Plan, planned: PlannedAttack, run: string): JobAttack {
    const { namespace, clusterName, deadlineMs } = plan;
    const { name, attack, target, radius } = planned;
    const kind = attackKindOf(attack);
    return {
        kind: attack.kind,
        path: pathOf({ resource: objectTypeOf(attack), namespace, name: objectNameOf(run, name) }),
        label: targetLabelFor(plan, planned),
        what: kind.describe(attack),
        // The witness listens there, beside `witnessPorts`.
        listenPort: kind.proof(attack).outward?.port,
        told: kind.forJob?.(attack, { target, radius, clusterName, deadlineMs }),
    };
}
