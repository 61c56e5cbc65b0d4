import { resources } from "../cluster/resources";
import { actionKindOf } from "../actions/registry";
import { changesWorkloads } from "../actions/perform";
import { attackKindOf, attackParts, objectTypeOf } from "../attacks/registry";
import { checkKindOf } from "../checks/registry";
import type { Right } from "../cluster/resources";
import { roleRulesOf } from "../job/rules";
import { changedBy, restored } from "../ending/left";
import { isAttack, needsDeadlineJob, type Plan } from "../definition/plan";
import { leaseName } from "../lifecycle/lease";
import { rightsToDiscover } from "./of-discovery";
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
    const own = { ...leases, namespace, why: "hold the namespace's lease: one experiment at a time" };
    return [
        { ...own, verbs: ["create"] },
        { ...own, names: [leaseName], verbs: ["get", "update", "patch", "delete"] },
        {
            ...leases,
            names: [leaseName],
            verbs: ["list"],
            why: "find the stack's runs in all namespaces before an update does anything else",
            without:
                "the update that disables an experiment in another namespace than the application's ends its attacks " +
                "last, not first",
        },
    ];
}

/** Without attacks, only the actions must spare a protected namespace. */
function rightsToSpare({ namespace, actions }: Plan): Right[] {
    if (!changesWorkloads(actions)) return [];
    const why = "see whether the namespace is protected";
    return [{ namespace, resource: "namespaces", names: [namespace], verbs: ["get"], why }];
}

/** Whether NetworkPolicies matter to an attack of a plan. */
const meetsPolicies = ({ attacks }: Plan): boolean => attacks.some(({ attack }) => !attackKindOf(attack).leavesTraffic);

/** The objects that Pulumi manages, and those that the sweep removes. */
function rightsOnObjects(plan: Plan): Right[] {
    const { namespace } = plan;
    const policies = { namespace, apiGroup: "networking.k8s.io", resource: "networkpolicies" };
    const left = { verbs: ["list"], why: "find what a killed update has left" };
    const made = { verbs: managed, why: "make and remove the deadline Job" };
    const job = { namespace, ...(needsDeadlineJob(plan) ? made : left) };
    return [
        { ...policies, ...left },
        ...(meetsPolicies(plan)
            ? [{ ...policies, verbs: managed, why: makeAttacks }]
            : [
                  {
                      ...policies,
                      verbs: ["patch"],
                      why: "restore the policies that a killed run of another experiment has changed",
                      without: "no run begins after such a run until somebody has restored them",
                  },
                  ...(needsDeadlineJob(plan)
                      ? [
                            {
                                ...policies,
                                verbs: ["create", "delete"],
                                why: "let the deadline Job work in a namespace with other policies",
                                without: "no run begins in a namespace with NetworkPolicies",
                            },
                        ]
                      : []),
              ]),
        { ...job, resource: "configmaps" },
        { ...job, resource: "serviceaccounts" },
        { ...job, apiGroup: "batch", resource: "jobs" },
        { ...job, apiGroup: "rbac.authorization.k8s.io", resource: "roles" },
        { ...job, apiGroup: "rbac.authorization.k8s.io", resource: "rolebindings" },
    ];
}

const makeAttacks = "make and end the attacks";

/** What attacks are made of besides NetworkPolicies, and what a killed run has left of that. */
function rightsOnParts({ namespace, attacks }: Plan): Right[] {
    const own = new Set(attacks.flatMap(({ attack }) => [objectTypeOf(attack), ...(attackKindOf(attack).parts ?? [])]));
    // The rights to policies are above, and the deadline Job has a ConfigMap, too.
    const others = attackParts.filter((type) => type !== resources.networkPolicy && type !== resources.configMap);
    return [
        ...others.map((type) => ({
            ...{ namespace, apiGroup: type.apiGroup, resource: type.resource },
            ...(own.has(type)
                ? { verbs: managed, why: makeAttacks }
                : {
                      verbs: ["list", "delete"],
                      why: "remove the attacks that a killed run has left",
                      without: "no run begins after such a run until somebody has removed them",
                  }),
        })),
        ...attacks.flatMap(({ attack }) => attackKindOf(attack).rights?.(namespace) ?? []),
    ];
}

/** What the Job may do: RBAC lets nobody grant more than they have. */
function rightsOfJob(plan: Plan): Right[] {
    const { namespace, attacks } = plan;
    if (!needsDeadlineJob(plan)) return [];
    const object = "a new name in each run";
    const rules = roleRulesOf({
        attacks: attacks.map(({ attack }) => ({ attack, object })),
        changed: changedBy(plan),
    });
    return rules.flatMap(({ apiGroups, resources, resourceNames = [object], verbs }) =>
        resources.map((resource) => ({
            namespace,
            apiGroup: apiGroups[0],
            resource,
            verbs,
            names: resourceNames.includes(object) ? undefined : resourceNames,
            why: "give the deadline Job its rights: you cannot grant rights that you do not have",
        })),
    );
}

function rightsOnTargets(plan: Plan): Right[] {
    const { namespace, attacks } = plan;
    return [
        ...(isAttack(plan)
            ? [
                  {
                      namespace,
                      resource: "pods",
                      verbs: ["list", "patch"],
                      why: "label the targets, and remove their labels",
                  },
                  { namespace, resource: "pods/log", verbs: ["get"], why: "read what the deadline Job has seen" },
              ]
            : [{ namespace, resource: "pods", verbs: ["list"], why: "find labels that a killed update has left" }]),
        ...(attacks.some(({ attack }) => !attackKindOf(attack).proof(attack).deleted)
            ? [{ namespace, resource: "pods", verbs: ["get"], why: "see whether the targets stay the same" }]
            : []),
    ];
}

/** What attacks and actions change until the run is undone, and what a killed run may have left so. */
function rightsToRestore(plan: Plan): Right[] {
    const { namespace } = plan;
    const own = changedBy(plan).map(({ resource: { apiGroup, resource }, name }) => ({
        namespace,
        apiGroup,
        resource,
        names: [name],
        verbs: ["get", "patch"],
        why: "change it until the run is undone",
    }));
    const left = restored.flatMap(({ apiGroup, resource }) => [
        { namespace, apiGroup, resource, verbs: ["list"], why: "find what a killed run has left changed" },
        {
            namespace,
            apiGroup,
            resource,
            verbs: ["get", "patch"],
            why: "restore what a killed run of another experiment has changed",
            without: "no run begins after such a run until somebody has restored it",
        },
    ]);
    return [...own, ...left];
}

/** How the application is found, and what makes reasons, pictures and progress better but changes no verdict. */
function rightsToSee(plan: Plan): Right[] {
    const { namespace, defaultNamespace, service } = plan;
    const isThere = "see whether the application is there";
    return [
        service
            ? {
                  namespace: service.namespace,
                  resource: "services",
                  names: [service.name],
                  verbs: ["get"],
                  why: `${isThere}, and where it answers`,
              }
            : {
                  namespace: defaultNamespace,
                  resource: "namespaces",
                  names: [defaultNamespace],
                  verbs: ["get"],
                  why: isThere,
              },
        {
            namespace: defaultNamespace,
            resource: "pods",
            verbs: ["list", "watch"],
            why: "follow the readiness of the application's pods",
            without: "the picture of a run does not show when pods were ready",
        },
        ...(meetsPolicies(plan)
            ? [
                  {
                      namespace,
                      resource: "namespaces",
                      names: [namespace],
                      verbs: ["get"],
                      why: "name the other policy that allows what an attack denies, if it selects by namespace",
                      without: "that reason may blame the network",
                  },
              ]
            : []),
        ...(needsDeadlineJob(plan)
            ? [
                  {
                      namespace,
                      resource: "events",
                      verbs: ["list", "watch"],
                      why: "show the events of objects that Pulumi waits for, and why the deadline Job gets no pod",
                      without: "Pulumi waits without showing them, and a rejected pod is told after two minutes",
                  },
              ]
            : []),
    ];
}
