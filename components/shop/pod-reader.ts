import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

/** A ServiceAccount that may only list the pods of its namespace. @returns its name, when its RoleBinding exists */
export function podReader(
    name: string,
    namespace: pulumi.Input<string>,
    opts: pulumi.ComponentResourceOptions,
): pulumi.Output<string> {
    const child = { parent: new pulumi.ComponentResource("chaos-shop:shop:PodReader", name, {}, opts) };
    const metadata = { name, namespace };
    const account = new k8s.core.v1.ServiceAccount(name, { metadata, automountServiceAccountToken: false }, child);
    const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }];
    const role = new k8s.rbac.v1.Role(name, { metadata, rules }, child);
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: role.metadata.name };
    const subjects = [{ kind: "ServiceAccount", name: account.metadata.name, namespace }];
    return new k8s.rbac.v1.RoleBinding(name, { metadata, roleRef, subjects }, child).metadata.name;
}
