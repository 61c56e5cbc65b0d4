import { actionKindOf } from "../kinds/actions/registry";
import { changeObjects } from "../kinds/actions/perform";
import { attackKindOf, attackParts, objectTypeOf } from "../kinds/attacks/registry";
import { checkKindOf } from "../kinds/checks/registry";
import { jobTypes, resources, type Right, rightsOn } from "../cluster/resources";
import { jobRightsOf, rightToMakeEvents } from "../witness/rules";
import { changedBy, restored } from "../ending/left";
import { isAttack, needsDeadlineJob, type Plan } from "../definition/plan";
import { leaseName } from "../lease/lease-record";
import { rightsToDiscover, rightToRead } from "./of-discovery";
import { rightsToProve } from "./of-proof";

/** Pulumi creates by server-side apply: `create` and `patch`. It waits for each deletion: `list` and `watch`, too. */
const managed = ["get", "list", "watch", "create", "patch", "delete"];

/** All rights on which a run of an experiment rests, as its parts name them: some twice, and some within others. */
export function rightsOfRun(plan: Plan): Right[] {
    const { namespace, attacks, checks, actions } = plan;
    return [
        ...rightsToHoldTheLease(plan),
        ...rightsOnObjects(plan),
        ...rightsOfJob(plan),
        ...rightsOnTargets(plan),
        ...rightsOnParts(plan),
        ...rightsToRestore(plan),
        ...(isAttack(plan) ? rightsToDiscover(plan) : rightsToSpare(plan)),
        ...attacks.flatMap((attack) => rightsToProve(attack, namespace)),
        ...checks.flatMap(({ check }) => checkKindOf(check).rights(check, plan)),
        ...actions.flatMap((action) => actionKindOf(action).rights(action, namespace)),
        ...rightsToSee(plan),
    ];
}

function rightsToHoldTheLease({ namespace }: Plan): Right[] {
    const leases = { apiGroup: "coordination.k8s.io", resource: "leases" };
    const hold = "hold the namespace's lease";
    return [
        rightsOn({ ...leases, namespace })(["create"], hold),
        rightsOn({ ...leases, namespace, names: [leaseName] })(["get", "update", "patch", "delete"], hold),
        rightsOn({ ...leases, names: [leaseName] })(
            ["list"],
            "find the stack's runs in all namespaces",
            "an update ends attacks outside of the application's namespace last, not first",
        ),
    ];
}

/** Without attacks, only the actions must spare a protected namespace. */
const rightsToSpare = ({ namespace, actions }: Plan): Right[] =>
    changeObjects(actions) ? [rightToRead(namespace, "see whether the namespace is protected")] : [];

/** Whether NetworkPolicies matter to an attack of a plan. */
const meetsPolicies = ({ attacks }: Plan): boolean => attacks.some(({ attack }) => !attackKindOf(attack).leavesTraffic);

/** The objects that Pulumi manages, and those that the sweep removes. */
function rightsOnObjects(plan: Plan): Right[] {
    const { namespace } = plan;
    const onPolicies = rightsOn({ namespace, ...resources.networkPolicy });
    const hasJob = needsDeadlineJob(plan);
    const left = "find what a killed run has left";
    const forAttacks = onPolicies(managed, makeAttacks);
    const forOthers = onPolicies(
        ["patch"],
        "restore what another killed run has changed",
        "no run begins until somebody has restored it",
    );
    const forJob = onPolicies(
        ["get", "create", "delete"],
        "let the deadline Job through, also if a policy comes during the run",
    );
    return [
        onPolicies(["list"], left),
        ...(meetsPolicies(plan) ? [forAttacks] : hasJob ? [forOthers, forJob] : [forOthers]),
        ...jobTypes.map((type) => {
            const onObjects = rightsOn({ namespace, ...type });
            return hasJob ? onObjects(managed, "make and remove the deadline Job") : onObjects(["list"], left);
        }),
    ];
}

const makeAttacks = "make and end the attacks";

/** What attacks are made of besides NetworkPolicies, and what a killed run has left of that. */
function rightsOnParts({ namespace, attacks }: Plan): Right[] {
    const own = new Set(attacks.flatMap(({ attack }) => [objectTypeOf(attack), ...(attackKindOf(attack).parts ?? [])]));
    // The rights to policies are above, and the deadline Job has a ConfigMap, too.
    const others = attackParts.filter((type) => type !== resources.networkPolicy && type !== resources.configMap);
    return [
        ...others.map((type) => {
            const onParts = rightsOn({ namespace, ...type });
            if (own.has(type)) return onParts(managed, makeAttacks);
            return onParts(
                ["list", "delete"],
                "remove the attacks that a killed run has left",
                "no run begins until somebody has removed them",
            );
        }),
        ...attacks.flatMap(({ attack }) => attackKindOf(attack).rights?.(namespace) ?? []),
    ];
}

/** What the Job may do: RBAC lets nobody grant more than they have. */
function rightsOfJob(plan: Plan): Right[] {
    const { namespace, attacks } = plan;
    if (!needsDeadlineJob(plan)) return [];
    const object = "a new name in each run";
    const ofAttacks = attacks.map(({ attack }) => ({ attack, object }));
    const granted = jobRightsOf(ofAttacks, changedBy(plan), object, object).map(({ names, ...right }) => ({
        ...right,
        namespace,
        names: names?.includes(object) ? undefined : names,
        why: "grant the deadline Job its rights",
    }));
    return [...granted, rightToTryPods(namespace)];
}

/** Of an account that makes Jobs, and need not make pods by itself. */
export const rightToTryPods = (namespace: string): Right =>
    rightsOn({ namespace, ...resources.pod })(
        ["create"],
        "try by a dry run whether the namespace admits the deadline Job's pod",
        "that is found out once the Job is there, still before anybody is attacked",
    );

function rightsOnTargets(plan: Plan): Right[] {
    const { namespace, attacks } = plan;
    const onPods = rightsOn({ namespace, resource: "pods" });
    if (!isAttack(plan)) return [onPods(["list"], "find what a killed run has left")];
    const someStay = attacks.some(({ attack }) => !attackKindOf(attack).proof(attack).deleted);
    return [
        onPods(["list", "patch"], "label the targets, and remove their labels"),
        rightsOn({ namespace, resource: "pods/log" })(["get"], "read what the deadline Job has seen"),
        ...(someStay ? [onPods(["get"], "see whether the targets stay the same")] : []),
    ];
}

/** What attacks and actions change until the run is undone, and what a killed run may have left so. */
function rightsToRestore(plan: Plan): Right[] {
    const { namespace } = plan;
    const own = changedBy(plan).map(({ resource, name }) =>
        rightsOn({ namespace, ...resource, names: [name] })(["get", "patch"], "change it until the run is undone"),
    );
    const left = restored
        .map((type) => rightsOn({ namespace, ...type }))
        .flatMap((onObjects) => [
            onObjects(["list"], "find what a killed run has left"),
            onObjects(
                ["get", "patch"],
                "restore what another killed run has changed",
                "no run begins until somebody has restored it",
            ),
        ]);
    return [...own, ...left];
}

/** How the application is found, and what makes reasons, pictures and progress better but changes no verdict. */
function rightsToSee(plan: Plan): Right[] {
    const { namespace, defaultNamespace, service } = plan;
    const isThere = "see whether the application is there";
    const watch = ["list", "watch"];
    return [
        service
            ? rightsOn({ namespace: service.namespace, resource: "services", names: [service.name] })(
                  ["get"],
                  `${isThere}, and where it answers`,
              )
            : rightToRead(defaultNamespace, isThere),
        rightsOn({ namespace: defaultNamespace, resource: "pods" })(
            watch,
            "show when pods were ready",
            "the picture of a run does not show it",
        ),
        ...(meetsPolicies(plan) ? [rightToRead(namespace, ...nameOtherPolicy)] : []),
        ...(needsDeadlineJob(plan) ? [rightsOn({ namespace, resource: "events" })(watch, ...showEvents)] : []),
        ...(needsDeadlineJob(plan)
            ? selectors.map((one) => rightsOn({ namespace, ...one })(["list"], ...refuseLabels))
            : []),
        ...(isAttack(plan) ? [rightToMakeEvents(namespace)] : []),
    ];
}

/** What may select the run's own pods by labels that `pod` gives them. */
const selectors = [
    { apiGroup: "policy", resource: "poddisruptionbudgets" },
    ...["replicasets", "statefulsets", "daemonsets"].map((resource) => ({ apiGroup: "apps", resource })),
];
const refuseLabels = ["refuse labels by which others select the run's pods", "they are not refused"] as const;
const nameOtherPolicy = [
    "name the other policy that allows what an attack denies, if it selects by namespace",
    "that reason may blame the network",
] as const;
const showEvents = [
    "say what Pulumi waits for, and why the deadline Job has no pod",
    "a rejected pod is reported after two minutes",
] as const;
