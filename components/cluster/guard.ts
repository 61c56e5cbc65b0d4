import type { KubeConfig } from "@kubernetes/client-node";

/** A kubeconfig context that the stack may touch. */
export interface AllowedContext {
    name: string;
    /** Address of the API server. */
    server: string;
    /** The kind of local cluster, where it is plainly one. */
    local?: LocalCluster;
}

export type LocalCluster = (typeof localClusters)[number]["kind"];

/** Addresses of this machine; the two names are those that Docker gives it. */
const thisMachine =
    /^(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|::1|kubernetes\.docker\.internal|host\.docker\.internal)$/;

/** How the tools for local clusters name the contexts that they write, and where those lead. */
const localClusters = [
    { kind: "kind", context: /^kind-/, server: thisMachine },
    // Its virtual machines have addresses in networks of this machine (RFC 1918, of which they use these two).
    {
        kind: "minikube",
        context: /^minikube$/,
        server: new RegExp(`${thisMachine.source}|^(?:192\\.168|172\\.(?:1[6-9]|2\\d|3[01]))(?:\\.\\d+){2}$`),
    },
    { kind: "k3d", context: /^k3d-/, server: thisMachine },
    { kind: "Docker Desktop", context: /^docker-(?:desktop|for-desktop)$/, server: thisMachine },
    { kind: "Rancher Desktop", context: /^rancher-desktop$/, server: thisMachine },
    // RFC 2544's network, 198.18.0.0/15.
    { kind: "sandbox", context: /^chaos-shop-sandbox$/, server: /^198\.1[89](?:\.\d+){2}$/ },
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
    const waysOn =
        "start a local one (`npm run sandbox -- up`, kind, minikube, k3d, Docker Desktop), or name one with `pulumi config set kube.context NAME`";
    if (named !== undefined && !known.includes(named)) {
        throw new GuardError(
            `kube.context is "${named}", which the kubeconfig does not have; ` +
                (known.length > 0
                    ? `allowed: ${known.join(", ")}; set with \`pulumi config set kube.context NAME\``
                    : `it has no context at all: ${waysOn}`),
        );
    }
    const name = named ?? kubeconfig.getCurrentContext();
    if (!name)
        throw new GuardError(`the kubeconfig has no current context, so there is no cluster to touch: ${waysOn}`);
    const context = contexts.find((candidate) => candidate.name === name);
    if (!context) {
        const others =
            known.length > 0 ? `which it does not have; it has ${known.join(", ")}` : "and it has none at all";
        throw new GuardError(`the kubeconfig's current context is "${name}", ${others}: ${waysOn}`);
    }
    const { server, proxyUrl } = kubeconfig.getCluster(context.cluster) ?? {};
    if (!server) {
        throw new GuardError(
            `context "${name}" names the cluster "${context.cluster}", which the kubeconfig does not describe; mend the kubeconfig, or ${waysOn}`,
        );
    }
    // Behind a proxy this machine's own address is the proxy's.
    const local = proxyUrl === undefined ? localCluster(name, server) : undefined;
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
    const host = URL.canParse(server) ? new URL(server).hostname.replace(/^\[|\]$/g, "") : "";
    return localClusters.find((cluster) => cluster.context.test(context) && cluster.server.test(host))?.kind;
}
