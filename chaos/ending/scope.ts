import { labels } from "../cluster/labels";
import { type NamedObject, type KubeObject, type Resource, resources } from "../cluster/resources";

/** Some objects of a namespace: one by its name, or those with a label, or all of a type. */
export interface Some {
    resource: Resource;
    name?: string;
    labelSelector?: string;
    /** Whether a listed object is meant. @default all are */
    only?(object: KubeObject): boolean;
}

/** What is ended: a run's own, or all that is left. What is absent is nothing. */
export interface Scope {
    namespace: string;
    /** Name of the run, if only what it has changed is restored. @default what any run has */
    run?: string;
    /** Pods that may have the labels of targets. */
    labeled?: readonly Some[];
    /** Objects of attacks that the deadline Job does itself, such as a kill: with them it stops. */
    jobOrders?: readonly Some[];
    /** Objects that attacks and actions may have changed, without NetworkPolicies. */
    changed?: readonly Some[];
    /** NetworkPolicies that may have stopped selecting targets. */
    policies?: readonly Some[];
    /** Objects that exist only for the attacks, such as their NetworkPolicies. */
    objects?: readonly Some[];
    /** Pods that actions have beside a run: they go on until the attacks are ended. */
    besides?: readonly Some[];
    /** Removed in this order once all else is ended: what a fault's callers need, the deadline Job and its policy. */
    rest?: readonly Some[];
}

/** Whether the deadline Job does an attack itself: nothing else acts on a ConfigMap. */
export const isJobOrder = ({ resource }: Some): boolean => resource === resources.configMap;

/**
 * Name of the policy that lets a run's deadline Job through. It owns the other policies by which the run's steps let
 * something through, and goes with the Job's rights: at its end, the Job so deletes all of them.
 */
export const jobPolicyName = (runName: string) => `${runName}-job`;

/**
 * What a run has made and changed: no other run of the namespace. The deadline Job has the rights to no more.
 *
 * @param attacks of each, the object that is the attack, and the value of the label on its targets
 * @param besides the pods that actions have beside it
 */
export function ofRun(
    { namespace, run }: { namespace: string; run: string },
    attacks: readonly { object: NamedObject; label: string }[],
    changed: readonly Some[],
    besides: readonly Some[] = [],
): Scope {
    const objects = attacks.map(({ object }) => object);
    const others = objects.filter((object) => !isJobOrder(object));
    const values = attacks.map(({ label }) => label).join();
    // A pod may have lost the first label. One of another run's has both.
    const targets = [`${labels.target} in (${values})`, `${labels.attacked},!${labels.target}`];
    return {
        namespace,
        run,
        labeled:
            attacks.length === 0 ? [] : targets.map((labelSelector) => ({ resource: resources.pod, labelSelector })),
        jobOrders: objects.filter(isJobOrder),
        changed,
        policies: others.length > 0 ? [{ resource: resources.networkPolicy }] : [],
        objects: others,
        besides,
    };
}
