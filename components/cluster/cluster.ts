import * as k8s from "@pulumi/kubernetes";
import { loadKubeconfig } from "../../shared/kubeconfig";
import { connect, type Cluster } from "../../shared/kubernetes";
import { allowedContext, type AllowedContext } from "./guard";

/** The cluster that the stack touches. */
export interface StackCluster {
    context: AllowedContext;
    /** For the stack's resources. */
    provider: k8s.Provider;
    /** For what the program itself reads. */
    api: Cluster;
}

const reachTimeoutMs = 10_000;

/**
 * The cluster behind the context that the stack may touch, which must answer: a cluster that does not is told of here
 * in one sentence, before the first resource.
 *
 * @param named what the stack's `kube.context` says
 * @throws GuardError, KubeconfigError, or an Error that names the address that does not answer
 */
export async function openCluster(named: string | undefined): Promise<StackCluster> {
    const context = allowedContext(loadKubeconfig(), named);
    const api = connect(context.name);
    await reach(api, context);
    return { context, api, provider: new k8s.Provider("cluster", { context: context.name }) };
}

async function reach(api: Cluster, { name, server, local }: AllowedContext): Promise<void> {
    const signal = AbortSignal.timeout(reachTimeoutMs);
    try {
        await api.core.listNamespace({ limit: 1 }, { signal } as never);
    } catch (error) {
        const start = local === "sandbox" ? "; start it with `npm run sandbox -- up`" : local ? `; start ${local}` : "";
        const reason = signal.aborted ? `no answer within ${reachTimeoutMs / 1_000} s` : (error as Error).message.split("\n")[0];
        throw new Error(`the cluster of context "${name}" at ${server} cannot be used: ${reason}${start}, or choose another with \`pulumi config set kube.context NAME\``);
    }
}
