import type { KubeConfig } from "@kubernetes/client-node";
import { type AllowedContext, guardedContext, type Naming } from "../../chaos/cluster/guard";

const naming: Naming = {
    key: "kube.context",
    named: (context) => ({ code: `pulumi config set kube.context ${context === "NAME" ? context : `'${context}'`}` }),
    local: "`npm run sandbox -- up`, kind, minikube, k3d, Docker Desktop",
    what: "the shop and its experiments",
    // The network of RFC 2544, 198.18.0.0/15.
    others: [{ kind: "sandbox", context: /^chaos-shop-sandbox$/, server: /^198\.1[89](?:\.\d+){2}$/ }],
};

/** The cluster that the stack may touch: the context that it names in `kube.context`, or a local one. */
export function allowedContext(kubeconfig: KubeConfig, named: string | undefined): AllowedContext {
    return guardedContext(kubeconfig, named, naming);
}
