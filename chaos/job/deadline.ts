import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { type AttackObjectType, objectNameOf } from "../attacks/objects";
import { labels } from "../cluster/labels";
import { restrictedContainer, restrictedPod, users, withoutMesh } from "../cluster/pod-security";
import { pathOf, type Resource } from "../cluster/resources";
import { leasePath } from "../lifecycle/lease";
import { podProgram } from "../packed";
import { deadlineContainer, type DeadlineEnvironment, type JobAttack, type LeaseOfRun } from "./protocol";
import { type ChangedObject, roleRulesOf } from "./rules";

export interface DeadlineArgs {
    experiment: string;
    /** Namespace of the attacks' objects and of the targets. */
    namespace: string;
    /** Prefix of the objects' names: each run has its own. The lease names it. */
    runName: pulumi.Output<string>;
    attacks: DeadlineAttack[];
    /** What the run changes besides NetworkPolicies, and must be restored. */
    changed: ChangedObject[];
    deadlineMs: number;
    /** A Node image. */
    image: string;
    /** The Job's program: the bundle of `main.ts`. */
    program: string;
}

/** An attack as the Job knows it. */
export interface DeadlineAttack extends Omit<JobAttack, "path"> {
    /** Its name in the plan. */
    name: string;
    objectType: AttackObjectType;
    /** See `Restores`. */
    keptIn?: Resource;
}

/**
 * Bounds the program's memory well below the container's limit, at which the kernel kills it. Node alone needs 44 MiB;
 * with 2,000 targets the peak is 61 MiB, and 70 MiB with a larger heap and the optimizing compiler.
 */
export const heap = ["--max-semi-space-size=1", "--max-old-space-size=16", "--no-opt"];

/**
 * A Job that ends the attacks at the deadline if nothing else has, and watches meanwhile whether the labeled pods can
 * be reached. The Job runs before a pod is labeled, and the attacks begin only when it has seen the targets.
 *
 * What its account may do is in `rules.ts`. It is for that one namespace, but there for all pods and, unless every
 * attack is a kill, for all NetworkPolicies: RBAC cannot limit it to those that a run has changed.
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
        const objectName = pulumi.interpolate`${args.runName}-deadline`;
        const rules = args.runName.apply((run) => roleRulesOf({ ...args, attacks: namedIn(run, args.attacks) }));
        const metadata = {
            name: objectName,
            namespace: args.namespace,
            labels: { [labels.experiment]: args.experiment },
        };

        const { binaryData } = podProgram(args.program);
        const account = new k8s.core.v1.ServiceAccount(`${name}-account`, { metadata }, child);
        const role = new k8s.rbac.v1.Role(`${name}-role`, { metadata, rules }, child);
        const binding = new k8s.rbac.v1.RoleBinding(
            `${name}-binding`,
            {
                metadata,
                roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: objectName },
                subjects: [{ kind: "ServiceAccount", name: objectName, namespace: args.namespace }],
            },
            // An account that is no administrator may bind only a Role that exists, and whose rights it has.
            { ...child, dependsOn: role },
        );
        const program = new k8s.core.v1.ConfigMap(
            `${name}-program`,
            { metadata, binaryData, immutable: true },
            // Another version of the program would replace the Job, and leave its attack alone during the run.
            { ...child, ignoreChanges: ["binaryData"] },
        );
        this.job = new k8s.batch.v1.Job(
            name,
            {
                // The provider would wait until the Job completes, when the attack is over. The step that labels the
                // targets waits for the Job: its own report comes a second before its status.
                metadata: { ...metadata, annotations: { "pulumi.com/skipAwait": "true" } },
                // A preview does not know the name: it leaves out the hundred lines that are the same for every run.
                spec: args.runName.apply(() => ({
                    backoffLimit: 20,
                    // No `ttlSecondsAfterFinished`: an update with --refresh would create a Job that is gone again, and
                    // it would kill pods without a lease or a check.
                    // The experiment's label keeps experiments from choosing this pod as a target.
                    template: {
                        metadata: { labels: { ...metadata.labels, ...withoutMesh } },
                        spec: podSpec(args, objectName),
                    },
                })),
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

function podSpec(args: DeadlineArgs, objectName: pulumi.Output<string>): k8s.types.input.core.v1.PodSpec {
    const { namespace, runName } = args;
    const attacksIn = (run: string) => namedIn(run, args.attacks).map((attack) => jobAttack(namespace, attack));
    const leaseOf = (run: string): LeaseOfRun => ({ path: leasePath(namespace), run });
    const env: Record<keyof DeadlineEnvironment, pulumi.Input<string>> = {
        NAMESPACE: namespace,
        ATTACKS: runName.apply((run) => JSON.stringify(attacksIn(run))),
        CHANGED: JSON.stringify(args.changed),
        DEADLINE_MS: String(args.deadlineMs),
        LEASE: runName.apply((run) => JSON.stringify(leaseOf(run))),
    };
    return {
        restartPolicy: "OnFailure",
        serviceAccountName: objectName,
        enableServiceLinks: false,
        terminationGracePeriodSeconds: 1,
        securityContext: restrictedPod(users.node),
        // The default is five minutes. Meanwhile nothing would end the attacks if this pod's node is lost.
        tolerations: ["not-ready", "unreachable"].map((condition) => ({
            key: `node.kubernetes.io/${condition}`,
            operator: "Exists",
            effect: "NoExecute",
            tolerationSeconds: 0,
        })),
        containers: [
            {
                name: deadlineContainer,
                image: args.image,
                command: ["node", ...heap, ...podProgram(args.program).args],
                env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })),
                volumeMounts: podProgram(args.program).volumeMounts,
                resources: { requests: { cpu: "10m", memory: "48Mi" }, limits: { cpu: "1", memory: "96Mi" } },
                securityContext: restrictedContainer,
            },
        ],
        volumes: [{ name: "program", configMap: { name: objectName } }],
    };
}

/** Attacks with the names of their objects. */
const namedIn = (runName: string, attacks: readonly DeadlineAttack[]) =>
    attacks.map(({ name, ...attack }) => ({ ...attack, object: objectNameOf(runName, name) }));

function jobAttack(
    namespace: string,
    { object, objectType: resource, keptIn: _, ...attack }: ReturnType<typeof namedIn>[number],
): JobAttack {
    return { path: pathOf({ resource, namespace, name: object }), ...attack };
}
