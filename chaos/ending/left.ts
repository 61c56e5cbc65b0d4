import type {
    RbacV1Subject,
    V1Job,
    V1JobCondition,
    V1NetworkPolicy,
    V1Role,
    V1RoleBinding,
} from "../values/kubernetes-types";
import { resourcesOfActions, restoredBy } from "../kinds/actions/registry";
import {
    attackKindOf,
    attackTypes,
    attackParts,
    objectNameOf,
    objectTypeOf,
    resourcesOfAttacks,
} from "../kinds/attacks/registry";
import { annotations, labels, runLabels } from "../cluster/labels";
import {
    changedOf,
    jobTypes,
    type KubeObject,
    type NamedObject,
    type ObjectApi,
    type Objects,
    type Resource,
    resources,
} from "../cluster/resources";
import { type Plan, runNameOf, targetLabelFor } from "../definition/plan";
import { isJobOrder, ofRun, type Scope } from "./scope";

/** The types of objects that attacks and actions of any kind may change, each once, without NetworkPolicies. */
export const restored = [...new Set([...resourcesOfAttacks, ...resourcesOfActions])];

/**
 * What a run changes that must be restored, without NetworkPolicies. Of targets, all pods: which ones they are is known
 * later, and they may lose their labels.
 */
export function changedBy({ attacks, actions }: Pick<Plan, "attacks" | "actions">): Objects[] {
    const byAttacks = attacks.flatMap(({ attack }) => changedOf(attackKindOf(attack).restores, attack) ?? []);
    const targets = attacks.some(({ attack }) => attackKindOf(attack).restoresTargets);
    return [...byAttacks, ...(targets ? [{ resource: resources.pod }] : []), ...restoredBy(actions)];
}

type OfExperiment = Pick<Plan, "namespace" | "experiment">;

/**
 * The attacks that an experiment may have left in its namespace, and what any run has changed there: the caller holds
 * the lease on the namespace.
 */
export function attacksLeftOf({ namespace, experiment }: OfExperiment): Scope {
    const labelSelector = `${labels.experiment}=${experiment}`;
    const { networkPolicy, pod } = resources;
    // The other pods are the deadline Job's, and the other ConfigMaps programs, which may have to start again.
    const isAttack = ({ metadata }: KubeObject) => metadata?.annotations?.[annotations.targets] !== undefined;
    const attacks = attackTypes.map((resource) => ({
        resource,
        labelSelector,
        // The steps make some policies, too.
        only: resource === networkPolicy ? (policy: V1NetworkPolicy) => !admitsCallers(policy) : isAttack,
    }));
    const parts = attackParts.filter((resource) => !attackTypes.includes(resource));
    return {
        namespace,
        labeled: runLabels.map((key) => ({ resource: pod, labelSelector: key })),
        jobOrders: attacks.filter(isJobOrder),
        changed: restored.map((resource) => ({ resource })),
        policies: [{ resource: networkPolicy }],
        objects: attacks.filter((some) => !isJobOrder(some)),
        // A fault's proxy serves the callers of its Service until that is restored.
        rest: [
            { resource: networkPolicy, labelSelector, only: admitsCallers },
            ...parts.map((resource) => ({ resource, labelSelector })),
        ],
    };
}

/** Whether a policy lets callers through to a fault's proxy: it neither denies anything nor is the witness's. */
const admitsCallers = ({ metadata, spec }: V1NetworkPolicy): boolean =>
    metadata?.annotations?.[annotations.restsOn] !== undefined &&
    metadata.labels?.[labels.witness] === undefined &&
    spec?.podSelector?.matchLabels?.[labels.combined] === undefined;

/**
 * Everything that an experiment may have left: the sweep. An update that is killed between creating an object and
 * recording it leaves one that the engine does not know. The engine accepts that objects it does know are gone.
 */
export function leftOf(of: OfExperiment): Scope {
    const labelSelector = `${labels.experiment}=${of.experiment}`;
    const attacks = attacksLeftOf(of);
    return {
        ...attacks,
        rest: [
            ...(attacks.rest ?? []),
            ...jobTypes.map((resource) => ({ resource, labelSelector })),
            { resource: resources.networkPolicy, labelSelector: `${labels.witness}=${of.experiment}` },
        ],
    };
}

/** The policies that a run's steps have made: its names have its stack, and the engine does not know these. */
export function policiesOf(plan: Plan, stack: string): Scope {
    const only = ({ metadata }: KubeObject) => metadata!.name!.startsWith(`${runNameOf(plan, stack)}-`);
    return { namespace: plan.namespace, objects: [{ resource: resources.networkPolicy, only }] };
}

export function witnessPoliciesOf({ namespace, experiment }: Plan): Scope {
    const labelSelector = `${labels.experiment}=${experiment},${labels.witness}=${experiment}`;
    return { namespace, objects: [{ resource: resources.networkPolicy, labelSelector }] };
}

/**
 * The uids of a run's attacks, if all are there: each lasts while its object exists, and a fault until its proxy is
 * being deleted. One that somebody makes again under the same name has another uid.
 *
 * @param more further objects of the run that must be there, of which a Job must run
 */
export async function uidsOfAttacks(
    api: Pick<ObjectApi, "get">,
    plan: Plan,
    runName: string,
    more: readonly NamedObject[] = [],
): Promise<readonly (string | undefined)[] | undefined> {
    const { namespace, jobOrders = [], objects = [] } = ofPlan(plan, runName);
    const wanted = [...jobOrders, ...objects, ...more];
    const found = await Promise.all(wanted.map((one) => api.get({ ...one, namespace, name: one.name! })));
    const areThere = found.every((object, index) => object !== undefined && !isOver(wanted[index]!.resource, object));
    return areThere ? found.map((object) => object?.metadata?.uid) : undefined;
}

function isOver(resource: Resource, object: KubeObject): boolean {
    if (resource === resources.pod) return object.metadata?.deletionTimestamp !== undefined;
    return whyUselessToJob(resource, object) !== undefined;
}

/**
 * Why an object of `jobTypes` that is there is of no use to the deadline Job. Undefined if it is, or may not be read.
 * They all have one name.
 */
export function whyUselessToJob(resource: Resource, { metadata, ...object }: KubeObject): string | undefined {
    if (metadata === undefined) return undefined;
    if (resource === resources.job) {
        const { spec, status } = object as Pick<V1Job, "spec" | "status">;
        if (spec?.suspend) return "is suspended";
        return status?.conditions?.some(isFinal) || status?.completionTime ? "has ended" : undefined;
    }
    if (resource === resources.role) return (object as V1Role).rules?.length ? undefined : "gives no rights";
    if (resource !== resources.roleBinding) return undefined;
    const isOwn = ({ kind, name }: RbacV1Subject) => kind === "ServiceAccount" && name === metadata.name;
    return (object as V1RoleBinding).subjects?.some(isOwn) ? undefined : "gives the Job's account no rights";
}

/** See https://kubernetes.io/docs/concepts/workloads/controllers/job/#terminal-job-conditions */
const isFinal = ({ type, status }: V1JobCondition) => ["Complete", "Failed"].includes(type) && status === "True";

/** What a run of a plan has made and changed. */
export function ofPlan(plan: Plan, runName: string): Scope {
    const { namespace, attacks } = plan;
    const ended = attacks.map((planned) => ({
        object: { resource: objectTypeOf(planned.attack), name: objectNameOf(runName, planned.name) },
        label: targetLabelFor(plan, planned),
    }));
    return ofRun({ namespace, run: runName }, ended, changedBy(plan));
}
