import { existsSync } from "node:fs";
import type { AllowedContext } from "../chaos/cluster/guard";
import { type Cluster, connect } from "../chaos/cluster/client";
import { loadKubeconfig } from "../chaos/cluster/kubeconfig";
import { explain } from "../chaos/cluster/problem";
import { allowedContext } from "../components/cluster/allowed-context";
import { noProxy, sandboxContext } from "../sandbox/node/addresses";
import type { StackPlace } from "./stack-file";
import { otherResources } from "../chaos/cluster/resources";

/** Docker Desktop takes some seconds after it woke up. */
const answerTimeoutMs = 15_000;

/**
 * The cluster for the demo: that of the user's current context, otherwise the sandbox, which is started if necessary.
 * It becomes the current cluster of this process and its children.
 *
 * @param named the sandbox's context, if the stack names it
 * @throws Error with the reason, if the user's own cluster must not be used or cannot be: the sandbox would not be what
 *   they meant
 */
export async function demoCluster(say: (line: string) => void, named?: string): Promise<AllowedContext> {
    const own = await answering(named).catch((error: unknown) => {
        throw new Error(
            `${explain(error)}\nTo use the sandbox instead, this project's own Kubernetes, start it, and run ` +
                'the same command again: npm run sandbox -- up && eval "$(npm run -s sandbox -- env)"',
        );
    });
    if (own !== undefined) {
        say(`Using your ${own.local} cluster, context ${own.name}`);
        return own;
    }
    if (named === undefined)
        say("Your kubeconfig has no current context: using the sandbox, this project's own Kubernetes");
    const { sandboxUp } = await import("../sandbox/node/up.js");
    const { kubeconfig } = await sandboxUp();
    process.env.KUBECONFIG = kubeconfig;
    return allowedContext(loadKubeconfig(), undefined, "local");
}

/**
 * Connects to the cluster of a stack's shop, without starting the sandbox.
 *
 * @param stack for commands
 * @throws GuardError or KubeconfigError if there is none
 */
export async function clusterOf({ kubeContext }: Pick<StackPlace, "kubeContext">, stack: string): Promise<Cluster> {
    const isDemo = kubeContext === undefined || kubeContext === sandboxContext;
    let context = isDemo ? await ownContext(stack, kubeContext) : allowedContext(loadKubeconfig(), kubeContext, stack);
    if (context === undefined) {
        const { layout } = await import("../sandbox/node/layout.js");
        if (existsSync(layout.kubeconfig))
            Object.assign(process.env, { KUBECONFIG: layout.kubeconfig, NO_PROXY: noProxy() });
        context = allowedContext(loadKubeconfig(), undefined, stack);
    }
    return connect({ context: context.name });
}

/**
 * The context that the user's kubeconfig has for the demo. Undefined if it has none: then it is the sandbox's turn.
 *
 * @throws GuardError or KubeconfigError if it must not be used
 */
async function ownContext(stack: string, named?: string): Promise<AllowedContext | undefined> {
    const { layout } = await import("../sandbox/node/layout.js");
    // A shell keeps the name of the sandbox's file after the sandbox was destroyed.
    if (process.env.KUBECONFIG === layout.kubeconfig && !existsSync(layout.kubeconfig)) return undefined;
    const kubeconfig = loadKubeconfig();
    const hasContext = named === undefined ? kubeconfig.getCurrentContext() : kubeconfig.getContextObject(named);
    return hasContext ? allowedContext(kubeconfig, named, stack) : undefined;
}

/** The user's own context. Undefined if the sandbox must be started. @throws Error if the cluster cannot be used */
async function answering(named?: string): Promise<AllowedContext | undefined> {
    const own = await ownContext("local", named);
    if (own === undefined) return undefined;
    try {
        await connect({ context: own.name }, answerTimeoutMs).read({
            resource: otherResources.namespace,
            name: "kube-system",
        });
        return own;
    } catch (error) {
        if (own.local === "sandbox") return undefined;
        throw new Error(`your ${own.local} cluster, context ${own.name}, cannot be used: ${explain(error)}`);
    }
}
