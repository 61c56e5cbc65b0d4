import type { KubeConfig } from "@kubernetes/client-node";

/** A kubeconfig context that the stack may touch. */
export interface AllowedContext {
    name: string;
    /** Address of the API server. */
    server: string;
    /** The kind of local cluster. Undefined if it is not plainly local. */
    local?: LocalCluster;
}

export type LocalCluster = (typeof localClusters)[number]["kind"];

/** Addresses of this machine. Docker provides the two host names. */
const thisMachine =
    /^(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|::1|kubernetes\.docker\.internal|host\.docker\.internal)$/;

/** The context names and server addresses that the tools for local clusters write. */
const localClusters = [
    { kind: "kind", context: /^kind-/, server: thisMachine },
    // Its virtual machines have private addresses (two of the networks of RFC 1918).
    {
        kind: "minikube",
        context: /^minikube$/,
        server: new RegExp(`${thisMachine.source}|^(?:192\\.168|172\\.(?:1[6-9]|2\\d|3[01]))(?:\\.\\d+){2}$`),
    },
    { kind: "k3d", context: /^k3d-/, server: thisMachine },
    { kind: "Docker Desktop", context: /^docker-(?:desktop|for-desktop)$/, server: thisMachine },
    { kind: "Rancher Desktop", context: /^rancher-desktop$/, server: thisMachine },
    // The network of RFC 2544, 198.18.0.0/15.
    { kind: "sandbox", context: /^chaos-shop-sandbox$/, server: /^198\.1[89](?:\.\d+){2}$/ },
] as const;

/** The stack may not touch the kubeconfig's cluster. */
export class GuardError extends Error {
    constructor(message: string) {
        super(message);
        this.name = "GuardError";
    }
}

/**
 * Decides which cluster a stack touches: the context that it names in `kube.context`, otherwise the current context if
 * it is plainly local. A local context has both a name and a server address of a local cluster: a cloud cluster in a
 * context named `minikube` is refused.
 *
 * @throws GuardError that names the context and the command that allows it
 */
export function allowedContext(kubeconfig: KubeConfig, named: string | undefined): AllowedContext {
    const contexts = kubeconfig.getContexts();
    const known = contexts.map(({ name }) => name);
    const remedy =
        "start a local one (`npm run sandbox -- up`, kind, minikube, k3d, Docker Desktop), " +
        "or name one with `pulumi config set kube.context NAME`";
    if (named !== undefined && !known.includes(named)) {
        throw new GuardError(
            `kube.context is "${named}", which the kubeconfig does not have; ` +
                (known.length > 0
                    ? `allowed: ${known.join(", ")}; set with \`pulumi config set kube.context NAME\``
                    : `it has no context at all: ${remedy}`),
        );
    }
    const name = named ?? kubeconfig.getCurrentContext();
    if (!name) throw new GuardError(`the kubeconfig has no current context, and so no cluster: ${remedy}`);
    const context = contexts.find((candidate) => candidate.name === name);
    if (!context) {
        const others =
            known.length > 0 ? `which it does not have; it has ${known.join(", ")}` : "and it has none at all";
        throw new GuardError(`the kubeconfig's current context is "${name}", ${others}: ${remedy}`);
    }
    const { server, proxyUrl } = kubeconfig.getCluster(context.cluster) ?? {};
    if (!server) {
        throw new GuardError(
            `context "${name}" names the cluster "${context.cluster}", which the kubeconfig does not describe; ` +
                `fix the kubeconfig, or ${remedy}`,
        );
    }
    // With a proxy, 127.0.0.1 is the proxy's own address.
    const local = proxyUrl === undefined ? localCluster(name, server) : undefined;
    if (named === undefined && local === undefined) {
        throw new GuardError(
            `the current context "${name}" (${server}) is not plainly a local cluster, ` +
                "and this stack does not name it. Nothing was touched. " +
                `If the shop and its experiments may run there: pulumi config set kube.context '${name}'`,
        );
    }
    return { name, server, local };
}

function localCluster(context: string, server: string): LocalCluster | undefined {
    const host = URL.canParse(server) ? new URL(server).hostname.replace(/^\[|\]$/g, "") : "";
    return localClusters.find((cluster) => cluster.context.test(context) && cluster.server.test(host))?.kind;
}
