import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

/** A ServiceAccount that may only list the pods of its namespace. */
export class PodReader extends pulumi.ComponentResource {
    /** The account's name. Resolves when its RoleBinding exists. */
    readonly account: pulumi.Output<string>;

    constructor(
        name: string,
        { namespace }: { namespace: pulumi.Input<string> },
        opts?: pulumi.ComponentResourceOptions,
    ) {
        super("chaos-shop:shop:PodReader", name, {}, opts);
        const child = { parent: this };
        const metadata = { name, namespace };
        const account = new k8s.core.v1.ServiceAccount(name, { metadata, automountServiceAccountToken: false }, child);
        const role = new k8s.rbac.v1.Role(
            name,
            { metadata, rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }] },
            child,
        );
        const binding = new k8s.rbac.v1.RoleBinding(
            name,
            {
                metadata,
                roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: role.metadata.name },
                subjects: [{ kind: "ServiceAccount", name: account.metadata.name, namespace }],
            },
            child,
        );
        this.account = binding.metadata.name;
        this.registerOutputs({});
    }
}
