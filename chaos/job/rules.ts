import { type Attack, attackKindOf, attackObjects, objectTypeOf } from "../attacks/registry";
import { type NamedObject, type Resource, resources } from "../cluster/resources";
import { leaseName } from "../lifecycle/lease";

/** A rule of a Role, as RBAC has it. */
interface Rule {
    apiGroups: string[];
    resources: string[];
    resourceNames?: string[];
    verbs: string[];
}

/**
 * The rules of the Job's Role. Only who has these rights may create it: RBAC lets nobody grant more than they have.
 *
 * @param changed what the run changes besides NetworkPolicies, and must be restored
 * @param policy name of the NetworkPolicy that lets the Job through
 */
export function roleRulesOf(
    attacks: readonly { attack: Attack; object: string }[],
    changed: readonly NamedObject[],
    policy: string,
): Rule[] {
    const meetsPolicies = attacks.some(({ attack }) => !attackKindOf(attack).leavesTraffic);
    const all = ({ apiGroup, resource }: Omit<Resource, "kind">, verbs: string[]) => ({
        apiGroups: [apiGroup],
        resources: [resource],
        verbs,
    });
    /** On some objects only, one rule for each type. */
    const own = (objects: readonly NamedObject[], verbs: string[]): Rule[] =>
        [...new Set(objects.map(({ resource }) => resource))].map((type) => {
            const { apiGroups, resources } = all(type, verbs);
            const resourceNames = objects.flatMap(({ resource, name }) => (resource === type ? [name] : []));
            return { apiGroups, resources, resourceNames, verbs };
        });
    const objects = [
        ...attacks.map(({ attack, object }) => ({ resource: objectTypeOf(attack), name: object })),
        { resource: resources.networkPolicy, name: policy },
    ];
    return [
        ...attackObjects.flatMap((type) =>
            own(
                objects.filter(({ resource }) => resource === type),
                ["get", "delete"],
            ),
        ),
        { ...all({ apiGroup: "coordination.k8s.io", resource: "leases" }, ["get"]), resourceNames: [leaseName] },
        ...(attacks.length > 0 ? [all(resources.pod, ["list", "patch"])] : []),
        // Restores the policies that let go of targets. Which these are is found when the targets are.
        ...(meetsPolicies ? [all(resources.networkPolicy, ["list", "patch"])] : []),
        ...own(changed, ["get", "patch"]),
        ...attacks.flatMap(({ attack, object }) =>
            (attackKindOf(attack).rightsInJob?.(object) ?? []).map(({ apiGroup = "", resource, names, verbs }) => ({
                apiGroups: [apiGroup],
                resources: [resource],
                ...(names && { resourceNames: [...names] }),
                verbs: [...verbs],
            })),
        ),
    ];
}
