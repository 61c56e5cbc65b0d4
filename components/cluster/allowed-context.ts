import type { Kubeconfig } from "../../chaos/cluster/kubeconfig";
import { type AllowedContext, guardedContext, type Naming } from "../../chaos/cluster/guard";
import { setCommand } from "../pulumi-command";

const naming = (stack?: string): Naming => ({
    key: "kube.context",
    named: (context) => ({ code: setCommand("kube.context", context, stack) }),
    local: "`npm run sandbox -- up`, kind, minikube, k3d, Docker Desktop",
    what: "the shop and its experiments",
    // The network of RFC 2544, 198.18.0.0/15.
    others: [{ kind: "sandbox", context: /^chaos-shop-sandbox$/, server: /^198\.1[89](?:\.\d+){2}$/ }],
});

/**
 * The cluster that the stack may touch: the context that it names in `kube.context`, or a local one.
 *
 * @param stack for the commands in errors. @default that of the running program
 * @throws GuardError that names the context and how to allow it
 */
export function allowedContext(kubeconfig: Kubeconfig, named: string | undefined, stack?: string): AllowedContext {
    return guardedContext(kubeconfig, named, naming(stack));
}
