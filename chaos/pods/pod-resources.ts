import * as k8s from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { metadataFor } from "../cluster/labels";
import { podProgram } from "./packed";

export interface PodResourcesArgs {
    /** Name of all the objects, and of the pod's. */
    object: pulumi.Output<string>;
    namespace: string;
    experiment: string;
    rules: pulumi.Input<k8s.types.input.rbac.v1.PolicyRule[]>;
    /** JavaScript for Node, in one file; see `podProgram`. */
    program: string;
}

/** What a pod of a run needs before it starts: an account with rights, and its program. */
export function podResources(name: string, args: PodResourcesArgs, opts: pulumi.CustomResourceOptions) {
    const { object, namespace, rules } = args;
    const metadata = metadataFor(object, args);
    const { binaryData } = podProgram(args.program);
    const account = new k8s.core.v1.ServiceAccount(`${name}-account`, { metadata }, opts);
    const role = new k8s.rbac.v1.Role(`${name}-role`, { metadata, rules }, opts);
    const binding = new k8s.rbac.v1.RoleBinding(
        `${name}-binding`,
        {
            metadata,
            // A preview does not know the name. Applied as a whole, it leaves out what is the same for every run.
            roleRef: object.apply((of) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: of })),
            subjects: object.apply((of) => [{ kind: "ServiceAccount", name: of, namespace }]),
        },
        // An account that is no administrator may bind only a Role that exists, and only rights that it has itself.
        { ...opts, dependsOn: role },
    );
    const program = new k8s.core.v1.ConfigMap(
        `${name}-program`,
        { metadata, binaryData, immutable: true },
        // Another version of the program would replace the pod in the middle of a run, and leave the attack without it.
        { ...opts, ignoreChanges: ["binaryData"] },
    );
    return { metadata, account, role, binding, program };
}
