import { existsSync } from "node:fs";
import { allowedContext, type AllowedContext } from "../components/cluster/guard";
import { loadKubeconfig } from "../shared/kubeconfig";
import { connect } from "../shared/kubernetes";
import { nodeLayout } from "../sandbox/node/layout";
import { sandboxUp } from "../sandbox/node/up";

/**
 * The cluster for a demonstration: the user's own, where the current context is plainly local and answers, else the
 * sandbox, which is brought up where it is not. Makes it the current one for everything that this process starts.
 */
export async function demoCluster(say: (line: string) => void): Promise<AllowedContext> {
    const own = await ownCluster();
    if (own) {
        say(`Using your ${own.local} cluster, context ${own.name}`);
        return own;
    }
    say("No local cluster of yours answers: using the sandbox, a one-node Kubernetes of this project's own");
    const { kubeconfig } = await sandboxUp();
    process.env.KUBECONFIG = kubeconfig;
    return allowedContext(loadKubeconfig(), undefined);
}

/** The cluster that `demoCluster` takes, where there is one: none is made. @throws GuardError where there is none */
export async function runningCluster(): Promise<AllowedContext> {
    const own = await ownCluster();
    if (own) return own;
    const { kubeconfig } = nodeLayout();
    if (existsSync(kubeconfig)) process.env.KUBECONFIG = kubeconfig;
    return allowedContext(loadKubeconfig(), undefined);
}

async function ownCluster(): Promise<AllowedContext | undefined> {
    try {
        const context = allowedContext(loadKubeconfig(), undefined);
        await connect(context.name, 3_000).core.listNamespace({ limit: 1 });
        return context;
    } catch {
        // None, not plainly local, or asleep: whichever it is, it is not the one to demonstrate on.
        return undefined;
    }
}
