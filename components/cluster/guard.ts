import type { KubeConfig } from "@kubernetes/client-node";
import { isIP } from "node:net";

/** A kubeconfig context that the stack may touch. */
export interface AllowedContext {
    name: string;
    /** Address of the API server. */
    server: string;
    /** The kind of local cluster, where it is plainly one. */
    local?: LocalCluster;
}

export type LocalCluster = (typeof localClusters)[number]["kind"];

/** How the tools for local clusters name the contexts they write. */
const localClusters = [
    { kind: "kind", context: /^kind-/ },
    { kind: "minikube", context: /^minikube$/ },
    { kind: "k3d", context: /^k3d-/ },
    { kind: "Docker Desktop", context: /^docker-(?:desktop|for-desktop)$/ },
    { kind: "Rancher Desktop", context: /^rancher-desktop$/ },
    { kind: "sandbox", context: /^chaos-shop-sandbox$/ },
] as const;

/** The stack may not touch the cluster that the kubeconfig leads to. */
export class GuardError extends Error {
    constructor(message: string) {
        super(message);
        this.name = "GuardError";
    }
}

/**
 * Decides which cluster a stack touches: the context that it names in `kube.context`, else the current one where that
 * is plainly local. A context counts as local by its name and by the address of its API server together, so that a
 * cloud cluster that somebody named `minikube` does not pass.
 *
 * @throws GuardError naming the context and the command that allows it.
 */
export function allowedContext(kubeconfig: KubeConfig, named: string | undefined): AllowedContext {
    const contexts = kubeconfig.getContexts();
    const known = contexts.map(({ name }) => name);
    const waysOn = "start a local one (`npm run sandbox -- up`, kind, minikube, k3d, Docker Desktop), or name one with `pulumi config set kube.context NAME`";
    if (named !== undefined && !known.includes(named)) {
        throw new GuardError(
            `kube.context is "${named}", which the kubeconfig does not have; ` +
                (known.length > 0 ? `allowed: ${known.join(", ")}; set with \`pulumi config set kube.context NAME\`` : `it has no context at all: ${waysOn}`),
        );
    }
    const name = named ?? kubeconfig.getCurrentContext();
    const context = contexts.find((candidate) => candidate.name === name);
    const server = context && kubeconfig.getCluster(context.cluster)?.server;
    if (!name || !context) {
        throw new GuardError(`the kubeconfig has no current context, so there is no cluster to touch: ${waysOn}`);
    }
    if (!server) {
        throw new GuardError(`context "${name}" names the cluster "${context.cluster}", which the kubeconfig does not describe; mend the kubeconfig, or ${waysOn}`);
    }
    const local = localCluster(name, server);
    if (named === undefined && local === undefined) {
        throw new GuardError(
            `the current context "${name}" (${server}) is not plainly a local cluster, and this stack does not name it. ` +
                `Nothing was touched. If the shop and its experiments may run there: pulumi config set kube.context '${name}'`,
        );
    }
    return { name, server, local };
}

/** The kind of local cluster that a context leads to; undefined where it is not plainly one. */
export function localCluster(context: string, server: string): LocalCluster | undefined {
    return isLocalAddress(server) ? localClusters.find((cluster) => cluster.context.test(context))?.kind : undefined;
}

/** Whether an API server's address is this machine's, or one that is not routed on the internet. */
function isLocalAddress(server: string): boolean {
    const host = URL.canParse(server) ? new URL(server).hostname.replace(/^\[|\]$/g, "") : "";
    if (["localhost", "kubernetes.docker.internal", "host.docker.internal"].includes(host)) return true;
    if (isIP(host) === 6) return host === "::1" || /^f[cd]/i.test(host);
    // RFC 1918, RFC 5735 loopback, RFC 2544 (198.18.0.0/15, the sandbox)
    return isIP(host) === 4 && /^(?:0\.0\.0\.0$|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|198\.1[89]\.)/.test(host);
}
