import { type Kubeconfig, requireSupported } from "./kubeconfig";

export interface AllowedContext {
    name: string;
    server: string;
    /** The kind of local cluster. Undefined if it is not plainly local. */
    local?: string;
}

/** The local clusters of a tool: context and server address must both match. */
export interface LocalCluster {
    kind: string;
    context: RegExp;
    server: RegExp;
}

/** Addresses of this machine. Docker provides the two host names. */
const thisMachine =
    /^(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|::1|kubernetes\.docker\.internal|host\.docker\.internal)$/;

/** The context names and server addresses that the tools for local clusters write. */
const localClusters: readonly LocalCluster[] = [
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
];

/** How a person names a context, and what may happen there: for errors. */
export interface Naming {
    key: string;
    /** What gives that a value: a command or code, and where that belongs if it is not obvious. */
    named(context: string): { code: string; where?: string };
    /** How to start a local cluster: completes "start a local one (…)". */
    local: string;
    /** Completes "If … may run there: ". */
    what: string;
    others?: readonly LocalCluster[];
}

export class GuardError extends Error {
    override readonly name = "GuardError";
}

/**
 * Decides which cluster may be touched: the context that is named, otherwise the current context if it is plainly
 * local. A local context has both a name and a server address of a local cluster: a cloud cluster in a context named
 * `minikube` is refused.
 *
 * @throws GuardError that names the context and how to allow it
 * @throws KubeconfigError if the context has what is not supported
 */
export function guardedContext(kubeconfig: Kubeconfig, named: string | undefined, naming: Naming): AllowedContext {
    const contexts = kubeconfig.getContexts();
    const known = contexts.map(({ name }) => name);
    const { code, where } = naming.named("NAME");
    const toName = `\`${code}\`${where ? ` ${where}` : ""}`;
    const remedy = `start a local one (${naming.local}), or name one with ${toName}`;
    const name = named ?? kubeconfig.getCurrentContext();
    if (!name) throw new GuardError(`the kubeconfig has no current context, and so no cluster: ${remedy}`);
    const context = contexts.find((candidate) => candidate.name === name);
    if (!context) {
        const what = named === undefined ? "the kubeconfig's current context" : naming.key;
        const others = known.length > 0 ? `allowed: ${known.join(", ")}` : "it has no context at all";
        throw new GuardError(`${what} is "${name}", which the kubeconfig does not have; ${others}: ${remedy}`);
    }
    const { server, proxyUrl } = kubeconfig.getCluster(context.cluster) ?? {};
    if (!server)
        throw new GuardError(
            `context "${name}" names the cluster "${context.cluster}", which the kubeconfig does not describe; ` +
                `fix the kubeconfig, or ${remedy}`,
        );
    const candidates = [...localClusters, ...(naming.others ?? [])];
    // Behind a proxy, 127.0.0.1 is the proxy's own address.
    const local = proxyUrl === undefined ? localCluster(name, server, candidates) : undefined;
    if (named === undefined && local === undefined) {
        const { code, where } = naming.named(name);
        throw new GuardError(
            `the current context "${name}" (${server}${proxyUrl ? ", through a proxy" : ""}) is not plainly a local ` +
                "cluster, and this stack does not name it. Nothing was touched. " +
                `If ${naming.what} may run there: ${where ? `${where}, ` : ""}${code}`,
        );
    }
    requireSupported(kubeconfig, name);
    return { name, server, local };
}

function localCluster(context: string, server: string, candidates: readonly LocalCluster[]): string | undefined {
    const host = URL.canParse(server) ? new URL(server).hostname.replace(/^\[|\]$/g, "") : "";
    return candidates.find((cluster) => cluster.context.test(context) && cluster.server.test(host))?.kind;
}
