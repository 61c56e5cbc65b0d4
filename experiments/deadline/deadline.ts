import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { join } from "node:path";
import { restrictedContainer, restrictedPod, users } from "../../components/program/podSecurity";
import { inlineProgramCommand } from "../../components/program/program";
import { labels } from "../../shared/labels";
import { type DeadlineEnvironment, type JobAttack, watcher } from "./report";

export interface DeadlineArgs {
    experiment: string;
    /** Where the attacks' objects and the targets are. */
    namespace: string;
    /** Begins the names of the objects: another run has others. */
    runName: string;
    attacks: DeadlineAttack[];
    /** Deployments that the experiment scales. @default none */
    scaled?: string[];
    deadlineMs: number;
    /** A Node image. */
    image: string;
}

/** An attack as the Job knows it; its object is a ConfigMap where pods are killed, else a NetworkPolicy. */
export interface DeadlineAttack extends Omit<JobAttack, "path"> {
    /** Name that its object is going to have. */
    object: string;
}

/**
 * A Job that ends the attacks at the deadline if nobody else has, and that watches meanwhile whether the marked pods can
 * be reached. Its account may read and delete the attacks' own objects, and unlabel pods of that one namespace; to kill,
 * delete them, too; and give those Deployments that the experiment scales their number of pods back. The Job is there before
 * a pod is marked, and the attacks begin only when it has seen the targets.
 *
 * It is no component, for which the engine would write the whole state five times more in an experiment's few seconds.
 */
export class Deadline {
    readonly job: k8s.batch.v1.Job;
    /** All of it, without which the Job cannot end an attack. */
    readonly parts: pulumi.Resource[];

    constructor(name: string, args: DeadlineArgs, opts: pulumi.CustomResourceOptions) {
        const child = { ...opts, deleteBeforeReplace: true };
        // Each run has objects of its own, so that a sweep before a run never takes away what that run is going to use.
        const objectName = `${args.runName}-deadline`;
        const metadata = {
            name: objectName,
            namespace: args.namespace,
            labels: { [labels.experiment]: args.experiment },
        };

        const account = new k8s.core.v1.ServiceAccount(`${name}-account`, { metadata }, child);
        const role = new k8s.rbac.v1.Role(`${name}-role`, { metadata, rules: rulesOf(args) }, child);
        const binding = new k8s.rbac.v1.RoleBinding(
            `${name}-binding`,
            {
                metadata,
                roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: objectName },
                subjects: [{ kind: "ServiceAccount", name: objectName, namespace: args.namespace }],
            },
            child,
        );
        this.job = new k8s.batch.v1.Job(
            name,
            {
                metadata: {
                    ...metadata,
                    // The provider would wait for the Job to complete, which is when the attack is over. That it watches is
                    // what the marking of the targets waits for: its word for it comes a second before its status does.
                    annotations: { "pulumi.com/skipAwait": "true" },
                },
                spec: {
                    backoffLimit: 20,
                    // No `ttlSecondsAfterFinished`: where it was gone, an update that looks what there is would make it anew, to
                    // kill pods without a claim or a check.
                    // The label keeps experiments from choosing this pod as a target.
                    template: { metadata: { labels: metadata.labels }, spec: podSpec(args, objectName) },
                },
            },
            {
                ...child,
                // Its rights it needs later than its account, and has them before its pod runs.
                dependsOn: [account],
                // For another version of the program the Job would leave its attack alone in the middle of a run.
                ignoreChanges: ["spec.template.spec.containers[0].command"],
            },
        );
        this.parts = [account, role, binding, this.job];
    }
}

function rulesOf({ attacks, scaled = [] }: DeadlineArgs): k8s.types.input.rbac.v1.PolicyRule[] {
    const orders = attacks.filter(({ killing }) => killing).map(({ object }) => object);
    const policies = attacks.filter(({ killing }) => !killing).map(({ object }) => object);
    const kills = orders.length > 0;
    return [
        ...(policies.length > 0
            ? [
                  {
                      apiGroups: ["networking.k8s.io"],
                      resources: ["networkpolicies"],
                      resourceNames: policies,
                      verbs: ["get", "delete"],
                  },
              ]
            : []),
        ...(kills
            ? [{ apiGroups: [""], resources: ["configmaps"], resourceNames: orders, verbs: ["get", "delete"] }]
            : []),
        { apiGroups: [""], resources: ["pods"], verbs: ["list", "patch", ...(kills ? ["delete"] : [])] },
        // Which Deployment a pod is of, only its ReplicaSet says.
        ...(kills ? [{ apiGroups: ["apps"], resources: ["replicasets"], verbs: ["list"] }] : []),
        ...(scaled.length > 0
            ? [{ apiGroups: ["apps"], resources: ["deployments"], resourceNames: scaled, verbs: ["get", "patch"] }]
            : []),
    ];
}

function podSpec(args: DeadlineArgs, account: string): k8s.types.input.core.v1.PodSpec {
    const env: Record<keyof DeadlineEnvironment, string> = {
        NAMESPACE: args.namespace,
        ATTACKS: JSON.stringify(args.attacks.map((attack) => jobAttack(args.namespace, attack))),
        SCALED: (args.scaled ?? []).join(),
        DEADLINE_MS: String(args.deadlineMs),
    };
    return {
        restartPolicy: "OnFailure",
        serviceAccountName: account,
        enableServiceLinks: false,
        terminationGracePeriodSeconds: 1,
        securityContext: restrictedPod(users.node),
        containers: [
            {
                name: watcher,
                image: args.image,
                command: inlineProgramCommand(join(__dirname, "main.ts")),
                env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })),
                resources: { requests: { cpu: "10m", memory: "48Mi" }, limits: { cpu: "1", memory: "96Mi" } },
                securityContext: restrictedContainer,
            },
        ],
    };
}

function jobAttack(namespace: string, { object, ...attack }: DeadlineAttack): JobAttack {
    const path = attack.killing
        ? `/api/v1/namespaces/${namespace}/configmaps/${object}`
        : `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies/${object}`;
    return { path, ...attack };
}
