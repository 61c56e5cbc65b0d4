import { type Attack, attackKindOf, attackTypes, objectTypeOf } from "../attacks/registry";
import { type NamedObject, resources, type Right, rightsOn } from "../cluster/resources";
import { leaseName } from "../lifecycle/lease";

/**
 * What the Job may do in its namespace.
 *
 * @param changed what the run changes besides NetworkPolicies, and must be restored
 * @param policy name of the NetworkPolicy that lets the Job through
 */
export function jobRightsOf(
    attacks: readonly { attack: Attack; object: string }[],
    changed: readonly NamedObject[],
    policy: string,
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
        { resource: resources.networkPolicy, name: policy },
    ];
    const lease = { apiGroup: "coordination.k8s.io", resource: "leases", names: [leaseName] };
    return [
        ...attackTypes.flatMap((type) =>
            own(
                objects.filter(({ resource }) => resource === type),
                ["get", "delete"],
                type === resources.networkPolicy
                    ? "end the attacks, then delete the policy that lets the Job through; those that the run's steps " +
                          "made go with it"
                    : "end the attacks",
            ),
        ),
        rightsOn(lease)(["get"], "attack only while the lease names this run, and end the attacks when it is gone"),
        ...(attacks.length > 0
            ? [
                  rightsOn(resources.pod)(
                      ["list", "patch"],
                      "find the targets, and pods that are not attacked, to compare with; remove labels; report what " +
                          "the witness sees",
                  ),
              ]
            : []),
        // Which these are is found when the targets are.
        ...(meetsPolicies
            ? [
                  rightsOn(resources.networkPolicy)(
                      ["list", "patch"],
                      "restore those that do not select targets; not for `kill`",
                  ),
              ]
            : []),
        ...own(changed, ["get", "patch"], "restore what the run changes"),
        ...attacks.flatMap(({ attack, object }) => attackKindOf(attack).rightsInJob?.(object) ?? []),
    ];
}

/** The same as the rules of its Role. Only who has these rights may create it: RBAC lets nobody grant more. */
export const roleRulesOf = (...of: Parameters<typeof jobRightsOf>) =>
    jobRightsOf(...of).map(({ apiGroup = "", resource, names, verbs }) => ({
        apiGroups: [apiGroup],
        resources: [resource],
        ...(names && { resourceNames: [...names] }),
        verbs: [...verbs],
    }));
