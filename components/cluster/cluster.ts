import type { V1Namespace } from "@kubernetes/client-node";
import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { loadKubeconfig } from "../../shared/kubeconfig";
import { connect, type Cluster, orMissing, reasonOf } from "../../shared/kubernetes";
import { allowedContext, type AllowedContext } from "./guard";
import { type Claimant, refusedNamespace } from "./namespaceOwner";

/** The cluster that the stack touches. */
export interface StackCluster {
    context: AllowedContext;
    /** For the stack's resources. */
    provider: k8s.Provider;
    /** For what the program itself reads. */
    api: Cluster;
}

/** The namespaces that a stack makes, by the settings that name them. */
export type OwnNamespaces = Record<Claimant["key"], string | undefined>;

const reachTimeoutMs = 10_000;

/**
 * The cluster behind the context that the stack may touch, which must answer, and have the stack's namespaces free for
 * it: what stands in the way is told of here, before the first resource.
 *
 * @param named what the stack's `kube.context` says
 * @throws GuardError, KubeconfigError, or an Error that names the address that does not answer or the namespaces that others have
 */
export async function openCluster(named: string | undefined, namespaces: OwnNamespaces): Promise<StackCluster> {
    const context = allowedContext(loadKubeconfig(), named);
    const api = connect(context.name);
    const found = await readNamespaces(api, context, namespaces);
    const refused = found
        .map(([key, namespace]) =>
            refusedNamespace(namespace, { stack: pulumi.getStack(), key, context: context.name }),
        )
        .filter((reason) => reason !== undefined);
    if (refused.length > 0) throw new Error(refused.join("\n"));
    return { context, api, provider: new k8s.Provider("cluster", { context: context.name }) };
}

/** Those of the namespaces that are there. @throws Error where the cluster does not answer */
async function readNamespaces(
    api: Cluster,
    { name: context, server, local }: AllowedContext,
    namespaces: OwnNamespaces,
): Promise<[Claimant["key"], V1Namespace][]> {
    const signal = AbortSignal.timeout(reachTimeoutMs);
    const wanted = (Object.entries(namespaces) as [Claimant["key"], string | undefined][]).flatMap(([key, name]) =>
        name === undefined ? [] : [{ key, name }],
    );
    try {
        const found = await Promise.all(
            wanted.map(
                async ({ key, name }) =>
                    [key, await orMissing(api.core.readNamespace({ name }, { signal } as never))] as const,
            ),
        );
        return found.flatMap(([key, namespace]) => (namespace === undefined ? [] : [[key, namespace]]));
    } catch (error) {
        const start = local === "sandbox" ? "; start it with `npm run sandbox -- up`" : local ? `; start ${local}` : "";
        const reason = signal.aborted ? `no answer within ${reachTimeoutMs / 1_000} s` : reasonOf(error).split("\n")[0];
        throw new Error(
            `the cluster of context "${context}" at ${server} cannot be used: ${reason}${start}, or choose another with \`pulumi config set kube.context NAME\``,
        );
    }
}
