import { isRequired, type Right } from "../cluster/resources";

const rbac = "rbac.authorization.k8s.io";

/** Who gets the rights. A ServiceAccount is the user `system:serviceaccount:NAMESPACE:NAME`. */
export interface Subject {
    kind: "User" | "Group";
    name: string;
}

export interface RolesArgs {
    /** Name of the Roles, such as `chaos-hot-deals-kill`. */
    name: string;
    /** Name of the ClusterRole: roles of other applications in the cluster must have others. */
    clusterName: string;
    /** @default no bindings */
    subjects?: readonly Subject[];
}

/**
 * Rights as a manifest: a Role in each namespace and a ClusterRole, with the reason of each rule as a comment. Optional
 * rights are in roles of their own, whose names end in `-optional`.
 *
 * @returns YAML documents for `kubectl apply`
 */
export function rolesManifest(rights: readonly Right[], { name, clusterName, subjects = [] }: RolesArgs): string {
    const namespaces = [...new Set(rights.map(({ namespace }) => namespace))].sort();
    const documents = [...namespaces].flatMap((namespace) =>
        [true, false].flatMap((required) => {
            const own = rights.filter((right) => right.namespace === namespace && isRequired(right) === required);
            if (own.length === 0) return [];
            const role = `${namespace === undefined ? clusterName : name}${required ? "" : "-optional"}`;
            return [
                roleOf(role, namespace, own),
                ...(subjects.length > 0 ? [bindingOf(role, namespace, subjects)] : []),
            ];
        }),
    );
    return documents.join("---\n");
}

function roleOf(name: string, namespace: string | undefined, rights: readonly Right[]): string {
    return `${headOf(namespace === undefined ? "ClusterRole" : "Role", name, namespace)}rules:\n${rights
        .map(printed)
        .join("")}`;
}

function printed(right: Right): string {
    const { why, without } = right;
    const reasons = [why, ...(without === undefined ? [] : [`Without it: ${without}`])];
    const fields = Object.entries(ruleOf(right)).map(([field, items]) => `${field}: ${listOf(items)}`);
    return [
        ...reasons.flatMap((reason) => reason.split("; ")).map((reason) => `  # ${reason}`),
        `  - ${fields.join("\n    ")}`,
        "",
    ].join("\n");
}

/** A right as a rule of a Role. */
export const ruleOf = ({ apiGroup = "", resource, names, verbs }: Right) => ({
    apiGroups: [apiGroup],
    resources: [resource],
    ...(names && { resourceNames: [...names] }),
    verbs: [...verbs],
});

function bindingOf(role: string, namespace: string | undefined, subjects: readonly Subject[]): string {
    const kind = namespace === undefined ? "ClusterRole" : "Role";
    const those = subjects.map(
        ({ kind: subject, name }) => `  - apiGroup: ${rbac}\n    kind: ${subject}\n    name: ${JSON.stringify(name)}\n`,
    );
    return (
        headOf(`${kind}Binding`, role, namespace) +
        `roleRef:\n  apiGroup: ${rbac}\n  kind: ${kind}\n  name: ${role}\n` +
        `subjects:\n${those.join("")}`
    );
}

const headOf = (kind: string, name: string, namespace: string | undefined) =>
    `apiVersion: ${rbac}/v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n` +
    (namespace === undefined ? "" : `  namespace: ${namespace}\n`);

/** JSON is YAML. */
const listOf = (items: readonly string[]) => `[${items.map((item) => JSON.stringify(item)).join(", ")}]`;
