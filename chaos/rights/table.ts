import { changeObjects } from "../kinds/actions/perform";
import { actionKindOf } from "../kinds/actions/registry";
import { workloadKinds, workloadTypes } from "../cluster/workload";
import { beginsAtPeers, beginsAtTargets, controlsAtTargets } from "../kinds/attacks/attack-kind";
import { type Attack, attackKindOf, attackKinds, attackParts, objectTypeOf } from "../kinds/attacks/registry";
import { checkKindOf } from "../kinds/checks/registry";
import { serviceNamed } from "../values/kubernetes-rules";
import {
    jobTypes,
    type NamedObject,
    type Objects,
    otherResources,
    resources,
    type Right,
    rightsIn,
    toRunInPods,
} from "../cluster/resources";
import { isAttack, needsDeadlineJob, type Plan, type PlannedAttack } from "../definition/plan";
import { besidesOf, changedBy, restored } from "../ending/left";
import { groupedBy } from "../values/grouped";
import { leaseName } from "../lease/lease-record";
import { type AttributeExpression, attributeOf, parseAttributes } from "../targets/attributes";
import { expressionsOf, namespacesNamed, peersOf } from "../targets/discover";
import { locateTarget } from "../targets/locate";
import { rightsToReadNodes } from "../targets/nodes";

/**
 * The rights on which a run rests, row by row: those of the account that runs the update, and in `jobRightsOf` those of
 * the deadline Job. A row says when it is needed, which verbs, on what, and why; and of an optional right, what is lost
 * without it. The roles that are printed, the review before a run, the Job's Role and the tables of the docs are made
 * of these rows. What only one kind of attack, check or action needs is in that kind.
 */
const { networkPolicy, pod, replicaSet, roleBinding, service: services } = resources;
const { daemonSet, disruptionBudget, endpointSlice, event, lease, namespace: namespaces, secret } = otherResources;
const { mutatingWebhooks, statefulSet, validatingWebhooks } = otherResources;

/** Pulumi creates by server-side apply: `create` and `patch`. It waits for each deletion: `list` and `watch`, too. */
export const managed = "get list watch create patch delete";

const hold = "hold the namespace's lease";
const makeAttacks = "make and end the attacks";
const seeProtection = "see whether the namespace is protected";
const findLeft = "find what a killed run has left";
const restoreOthers = [
    "restore what another killed run has changed",
    "no run begins until somebody has restored it",
] as const;

const meetsPolicies = (attack: Pick<Attack, "kind">) => !attackKindOf(attack).leavesTraffic;
const leavingTraffic = attackKinds.filter((kind) => !meetsPolicies({ kind })).map((kind) => `a \`${kind}\``);

/** Rows that are needed in some runs only. */
const onlyIf = (isNeeded: boolean, namespace?: string): ReturnType<typeof rightsIn> =>
    isNeeded ? rightsIn(namespace) : () => ({ to: () => [] });

/** All rights of the account that runs the update, as its parts name them: some twice, and some within others. */
export function rightsOfRun(plan: Plan): Right[] {
    const { namespace, defaultNamespace, service, attacks, checks, actions, begin } = plan;
    const [attacked, hasJob] = [isAttack(plan), needsDeadlineJob(plan)];
    const policed = attacks.some(({ attack }) => meetsPolicies(attack));
    const someStay = attacks.some(({ attack }) => !attackKindOf(attack).proof(attack).deleted);
    const own = new Set(attacks.flatMap(({ attack }) => [objectTypeOf(attack), ...(attackKindOf(attack).parts ?? [])]));
    const parts = attackParts.filter((type) => type !== networkPolicy && type !== resources.configMap);
    const always = rightsIn(namespace);
    const [toAttack, without] = [onlyIf(attacked, namespace), onlyIf(!attacked, namespace)];
    const [withJob, withoutJob] = [onlyIf(hasJob, namespace), onlyIf(!hasJob, namespace)];
    const ifPoliced = onlyIf(policed, namespace);
    const isThere = "see whether the application is there";
    return [
        always("create", lease).to(hold),
        always("get update patch delete", lease, leaseName).to(hold),
        rightsIn()("list", lease, leaseName).to(
            "find the stack's runs in all namespaces",
            "an update ends attacks outside of the application's namespace last, not first",
        ),

        always("list", networkPolicy).to(findLeft),
        ifPoliced(managed, networkPolicy).to(makeAttacks),
        onlyIf(!policed, namespace)("patch", networkPolicy).to(...restoreOthers),
        onlyIf(!policed && hasJob, namespace)("get create delete", networkPolicy).to(
            "let the deadline Job through, also if a policy comes during the run",
        ),
        withJob(managed, ...jobTypes).to("make and remove the deadline Job"),
        withoutJob("list", ...jobTypes).to(findLeft),
        hasJob ? rightsToGrant(plan) : [],
        hasJob ? rightToTryPods(namespace) : [],

        toAttack("list patch", pod).to("label the targets, and remove their labels"),
        toAttack("get", { resource: "pods/log" }).to("read what the deadline Job has seen"),
        onlyIf(someStay, namespace)("get", pod).to("see whether the targets stay the same"),
        without("list", pod).to(findLeft),

        // What attacks are made of. The rights to policies are above, and the deadline Job has a ConfigMap, too.
        always(managed, ...parts.filter((type) => own.has(type))).to(makeAttacks),
        always("list delete", ...parts.filter((type) => !own.has(type))).to(
            "remove the attacks that a killed run has left",
            "no run begins until somebody has removed them",
        ),
        attacks.flatMap(({ attack }) => attackKindOf(attack).rights?.(namespace) ?? []),
        changedBy(plan).flatMap(({ resource, name }) =>
            name === undefined
                ? always("get patch", resource).to("change targets until the run is undone")
                : always("get patch", resource, name).to("change it until the run is undone"),
        ),
        restored.flatMap((type) =>
            [always("list", type).to(findLeft), always("get patch", type).to(...restoreOthers)].flat(),
        ),

        attacked ? rightsToDiscover(plan) : [],
        onlyIf(!attacked && changeObjects(actions), namespace)("get", namespaces, namespace).to(seeProtection),
        attacks.flatMap((attack) => rightsToProve(attack, namespace)),
        [...checks, ...(begin ? [begin.when] : [])].flatMap(({ check }) => checkKindOf(check).rights(check, plan)),
        actions.flatMap((action) => actionKindOf(action).rights(action, namespace)),

        // How the application is found, and what makes reasons, pictures and progress better but changes no verdict.
        service
            ? rightsIn(service.namespace)("get", services, service.name).to(`${isThere}, and where it answers`)
            : rightsIn(defaultNamespace)("get", namespaces, defaultNamespace).to(isThere),
        rightsIn(defaultNamespace)("list watch", pod).to(
            "show when pods were ready",
            "the picture of a run does not show it",
        ),
        ifPoliced("get", namespaces, namespace).to(
            "name the other policy that allows what an attack denies, if it selects by namespace",
            "that reason may blame the network",
        ),
        withJob("list watch", event).to(
            "say what Pulumi waits for, and why the deadline Job has no pod",
            "a rejected pod is reported after two minutes",
        ),
        // These may select the run's own pods by labels that `pod` gives them.
        withJob("list", disruptionBudget, replicaSet, statefulSet, daemonSet).to(
            "refuse labels by which others select the run's pods",
            "they are not refused",
        ),
        attacked ? rightToMakeEvents(namespace) : [],
    ].flat();
}

/** What it takes to find targets, and to refuse those that no experiment may attack. */
function rightsToDiscover(plan: Plan): Right[] {
    const { agent, namespace, attacks } = plan;
    return [
        agent ? rightsToAskAgent(agent) : (namespacesNamed(plan) ?? [namespace]).flatMap(rightsToAskApiServer),
        rightsToReadNodes(expressionsOf(plan)),
        attacks.flatMap(({ target }) =>
            rightsIn(namespace)("get", ...workloadsNamed(target)).to(
                "wait until the targets' rollouts are complete, and give advice after `FAILED`",
                "a rollout may replace a target, and the verdict is INCONCLUSIVE",
            ),
        ),
        rightsIn()("list", validatingWebhooks, mutatingWebhooks).to(
            "refuse targets that serve admission webhooks",
            "they are not refused",
        ),
        rightsIn(namespace)("list", endpointSlice).to(
            "know to which pods, at which ports, Services lead",
            "the selectors of Services say that, which miss EndpointSlices that are made by hand",
        ),
    ].flat();
}

/** The kinds of workloads that a target names, or all. */
function workloadsNamed(target: AttributeExpression) {
    const keys = parseAttributes(target).flatMap(({ key, negated }) => (negated ? [] : key));
    const named = workloadKinds.filter((kind) => keys.includes(attributeOf(kind)));
    return (named.length > 0 ? named : workloadKinds).map((kind) => workloadTypes[kind]);
}

/** A Secret and pods have other names after each installation. */
function rightsToAskAgent({ namespace, name }: NonNullable<Plan["agent"]>): Right[] {
    const there = rightsIn(namespace);
    return [
        rightsIn()("list", namespaces).to("find protected namespaces"),
        there("get", daemonSet, name).to("find the agent"),
        there("get", secret).to("read the agent's key"),
        there("list", pod).to("find the agent's pods"),
        there("get", { resource: "pods/proxy" }).to("ask the agent for targets"),
    ].flat();
}

const rightsToAskApiServer = (namespace: string): Right[] => [
    ...rightsIn(namespace)("list", pod, replicaSet).to("find targets without an agent"),
    ...rightsIn(namespace)("get", namespaces, namespace).to(seeProtection),
];

/** To prove an attack from within containers, a connection is tried from where it begins. */
function rightsToProve({ attack, outward }: PlannedAttack, namespace: string): Right[] {
    const proof = attackKindOf(attack).proof(attack);
    const begins = beginsAtTargets(proof);
    const ofPeers = peersOf(attack);
    const peers = ofPeers && locateTarget(ofPeers, "Global", namespace).namespace;
    const hosts = (proof.addresses?.hosts ?? []).flatMap(({ host }) => serviceNamed(host, namespace) ?? []);
    const prove = "prove the attacks from within containers";
    const unproven = outward === "unproven" ? "outward is proven of no target" : undefined;
    return [
        onlyIf(begins, namespace)(...toRunInPods).to(prove, unproven),
        onlyIf(
            !begins && controlsAtTargets(proof),
            namespace,
        )(...toRunInPods).to(
            "try from within the targets what an attack must leave alone",
            "that part of the positive control is left out",
        ),
        hosts.flatMap((host) =>
            rightsIn(host.namespace)("get", services, host.name).to(
                "refuse a host of a blackhole that is a Service",
                "such a host is not refused, and the attack may not be proven",
            ),
        ),
        onlyIf(beginsAtPeers(proof), peers)(...toRunInPods).to(prove),
        onlyIf(peers !== undefined, peers)("list", pod).to(
            "find a label that only the peers have",
            "on Cilium, the attack may cut off pods that experiments may not attack",
        ),
    ].flat();
}

/** RBAC lets nobody grant more than they have. */
function rightsToGrant(plan: Plan): Right[] {
    const object = "a new name in each run";
    const attacks = plan.attacks.map(({ attack }) => ({ attack, object }));
    const besides = besidesOf(plan, object);
    return jobRightsOf(attacks, changedBy(plan), object, object, { besides }).map(({ names, ...right }) => ({
        ...right,
        namespace: plan.namespace,
        names: names?.some((name) => name.startsWith(object)) ? undefined : names,
        why: "grant the deadline Job its rights",
    }));
}

/** The right of an account that makes Jobs, and need not make pods by itself. */
export const rightToTryPods = (namespace: string): Right[] =>
    rightsIn(namespace)("create", pod).to(
        "try by a dry run whether the namespace admits the deadline Job's pod",
        "that is found out once the Job is there, still before anybody is attacked",
    );

/** No run needs it: without it, neither the Job nor who runs the experiment makes Events. */
export const rightToMakeEvents = (namespace?: string): Right[] =>
    rightsIn(namespace)("create", event).to(
        "make Events of the targets when an attack begins and ends",
        "the Events of a pod do not say why it is cut off",
    );

/**
 * What the Job may do in its namespace.
 *
 * @param changed what the run changes besides NetworkPolicies, and must be restored
 * @param binding name of the RoleBinding that gives the Job these rights
 * @param policy name of the NetworkPolicy that lets the Job through
 * @param more.mayMakeEvents whether the account that runs the experiment may: it cannot grant more. @default false
 * @param more.besides the pods that actions have beside the run. @default none
 */
export function jobRightsOf(
    attacks: readonly { attack: Attack; object: string }[],
    changed: readonly Objects[],
    binding: string,
    policy: string,
    { mayMakeEvents = false, besides = [] }: { mayMakeEvents?: boolean; besides?: readonly NamedObject[] } = {},
): Right[] {
    const its = rightsIn();
    const attacked = attacks.length > 0;
    const policed = attacks.some(({ attack }) => meetsPolicies(attack));
    /** On some objects only, one right for each type. */
    const onThese = (verbs: string, objects: readonly Objects[], why: string) =>
        [...groupedBy(objects, ({ resource }) => resource)].flatMap(([type, those]) =>
            its(verbs, type, ...those.flatMap(({ name }) => name ?? [])).to(why),
        );
    const ended = [
        ...attacks.map(({ attack, object }) => ({ resource: objectTypeOf(attack), name: object })),
        { resource: roleBinding, name: binding },
    ];
    return [
        onThese("get delete", ended, "end the attacks; then give up these rights, and the run's policies with them"),
        its("get", lease, leaseName).to(
            "attack only while the lease names this run, and end the attacks when it is gone",
        ),
        onlyIf(attacked)("list patch", pod).to(
            "find targets, and other pods to compare with; remove labels; report what the witness sees",
        ),
        attacked && mayMakeEvents ? rightToMakeEvents() : [],
        // Which policies the run changes is found when the targets are.
        onlyIf(policed)("get list patch", networkPolicy).to(
            "restore those that do not select targets, and watch the run's own; not if each attack is " +
                leavingTraffic.join(" or "),
        ),
        onlyIf(!policed)("get", networkPolicy, policy).to(
            "end the attacks when the policy is gone or edited that lets the Job through",
        ),
        onThese("get patch", changed, "restore what the run changes"),
        onThese("get delete", besides, "end what actions do beside the run"),
        attacks.flatMap(({ attack, object }) => attackKindOf(attack).rightsInJob?.(object, attack) ?? []),
    ].flat();
}
