import { type Attack, attackKindOf, objectTypeOf } from "../kinds/attacks/registry";
import { type NamedObject, resources, type Right, rightsOn } from "../cluster/resources";
import { eventType } from "../cluster/events";
import { leaseName } from "../lease/lease-record";

const toEnd = "end the attacks; then give up these rights, and the run's policies with them";
const toSeePolicy = "end the attacks when the policy is gone or edited that lets the Job through";

/**
 * What the Job may do in its namespace.
 *
 * @param changed what the run changes besides NetworkPolicies, and must be restored
 * @param binding name of the RoleBinding that gives the Job these rights
 * @param policy name of the NetworkPolicy that lets the Job through
 * @param mayMakeEvents whether the account that runs the experiment may: it cannot grant more
 */
export function jobRightsOf(
    attacks: readonly { attack: Attack; object: string }[],
    changed: readonly NamedObject[],
    binding: string,
    policy: string,
    mayMakeEvents = false,
): Right[] {
    const meetsPolicies = attacks.some(({ attack }) => !attackKindOf(attack).leavesTraffic);
    /** On some objects only, one right for each type. */
    const own = (objects: readonly NamedObject[], verbs: string[], why: string): Right[] =>
        [...new Set(objects.map(({ resource }) => resource))].map((type) => {
            const names = objects.flatMap(({ resource, name }) => (resource === type ? [name] : []));
            return rightsOn({ ...type, names })(verbs, why);
        });
    const objects = [
        ...attacks.map(({ attack, object }) => ({ resource: objectTypeOf(attack), name: object })),
        { resource: resources.roleBinding, name: binding },
    ];
    const lease = { apiGroup: "coordination.k8s.io", resource: "leases", names: [leaseName] };
    const pods = rightsOn(resources.pod)(
        ["list", "patch"],
        "find targets, and other pods to compare with; remove labels; report what the witness sees",
    );
    // Which these are is found when the targets are.
    const policies = rightsOn(resources.networkPolicy)(
        ["get", "list", "patch"],
        "restore those that do not select targets, and watch the run's own; not for `kill`",
    );
    return [
        ...own(objects, ["get", "delete"], toEnd),
        rightsOn(lease)(["get"], "attack only while the lease names this run, and end the attacks when it is gone"),
        ...(attacks.length > 0 ? [pods] : []),
        ...(attacks.length > 0 && mayMakeEvents ? [rightToMakeEvents()] : []),
        ...(meetsPolicies
            ? [policies]
            : own([{ resource: resources.networkPolicy, name: policy }], ["get"], toSeePolicy)),
        ...own(changed, ["get", "patch"], "restore what the run changes"),
        ...attacks.flatMap(({ attack, object }) => attackKindOf(attack).rightsInJob?.(object, attack) ?? []),
    ];
}

/** No run needs it: without it, neither the Job nor who runs the experiment makes Events. */
export const rightToMakeEvents = (namespace?: string): Right =>
    rightsOn({ namespace, ...eventType })(
        ["create"],
        "make Events of the targets when an attack begins and ends",
        "the Events of a pod do not say why it is cut off",
    );

/** The same as the rules of its Role. Only who has these rights may create it: RBAC lets nobody grant more. */
export const roleRulesOf = (...of: Parameters<typeof jobRightsOf>) =>
    jobRightsOf(...of).map(({ apiGroup = "", resource, names, verbs }) => ({
        apiGroups: [apiGroup],
        resources: [resource],
        ...(names && { resourceNames: [...names] }),
        verbs: [...verbs],
    }));
