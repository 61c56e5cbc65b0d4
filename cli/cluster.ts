import { existsSync } from "node:fs";
import type { AllowedContext } from "../chaos/cluster/guard";
import { allowedContext } from "../components/cluster/guard";
import { loadKubeconfig } from "../chaos/cluster/kubeconfig";
import { type Cluster, connect } from "../chaos/cluster/client";
import { noProxy, sandboxContext } from "../sandbox/node/addresses";
import type { StackPlace } from "./stack-file";

/**
 * The cluster for the demo: the user's own if the current context is plainly local and answers, otherwise the sandbox,
 * which is started if necessary. It becomes the current cluster of this process and its children.
 *
 * @param named the sandbox's context, if the stack names it
 */
export async function demoCluster(say: (line: string) => void, named?: string): Promise<AllowedContext> {
    const own = await ownCluster(named);
    if (own) {
        say(`Using your ${own.local} cluster, context ${own.name}`);
        return own;
    }
    if (named === undefined)
        say("You have no local cluster that answers: using the sandbox, this project's one-node Kubernetes");
    const { sandboxUp } = await import("../sandbox/node/up.js");
    const { kubeconfig } = await sandboxUp();
    process.env.KUBECONFIG = kubeconfig;
    return allowedContext(loadKubeconfig(), undefined);
}

/** Connects to the cluster of a stack's shop, without starting the sandbox. @throws GuardError if there is none */
export async function clusterOf({ kubeContext }: Pick<StackPlace, "kubeContext">): Promise<Cluster> {
    const isDemo = kubeContext === undefined || kubeContext === sandboxContext;
    let context = isDemo ? await ownCluster(kubeContext) : allowedContext(loadKubeconfig(), kubeContext);
    if (context === undefined) {
        const { layout } = await import("../sandbox/node/layout.js");
        if (existsSync(layout.kubeconfig))
            Object.assign(process.env, { KUBECONFIG: layout.kubeconfig, NO_PROXY: noProxy() });
        context = allowedContext(loadKubeconfig(), undefined);
    }
    return connect({ context: context.name });
}

async function ownCluster(named?: string): Promise<AllowedContext | undefined> {
    try {
        const context = allowedContext(loadKubeconfig(), named);
        await connect({ context: context.name }, 3_000).core.listNamespace({ limit: 1 });
        return context;
    } catch {
        // There is none, it is not plainly local, or it does not answer.
        return undefined;
    }
}
