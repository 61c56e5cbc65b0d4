import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Where everything that the sandbox makes is kept; nothing of it lies in the checkout. */
export interface SandboxPaths {
    /** The sandbox's whole cache; removing it costs a new first build. */
    readonly cache: string;
    /** Built parts: one folder a part, its name ending in a hash of its inputs. Kept across `down` and `up`. */
    readonly parts: string;
    /** One log a part of its latest build. */
    readonly logs: string;
    /** The running node's state: certificates, etcd, containerd, kubelet. Removed by `destroy`. */
    readonly node: string;
    /** The kubeconfig of the running node; its one context is {@link SANDBOX_CONTEXT}. */
    readonly kubeconfig: string;
    /** Pulumi's own home (`$PULUMI_HOME`, else `~/.pulumi`): CLI versions and plugins. */
    readonly pulumiHome: string;
}

/** The name of the sandbox's context in its kubeconfig. */
export const SANDBOX_CONTEXT = "chaos-shop-sandbox";

/**
 * Reads from the environment where the sandbox keeps its files.
 *
 * `XDG_CACHE_HOME` moves the cache; as its specification says, a relative path there is ignored.
 *
 * @param env defaults to this process's environment.
 */
export function sandboxPaths(env: NodeJS.ProcessEnv = process.env): SandboxPaths {
    const home = env.HOME || homedir();
    const cacheHome = env.XDG_CACHE_HOME && isAbsolute(env.XDG_CACHE_HOME) ? env.XDG_CACHE_HOME : join(home, ".cache");
    const cache = join(cacheHome, "chaos-shop");
    const node = join(cache, "node");
    return {
        cache,
        parts: join(cache, "parts"),
        logs: join(cache, "logs"),
        node,
        kubeconfig: join(node, "kubeconfig"),
        pulumiHome: env.PULUMI_HOME || join(home, ".pulumi"),
    };
}
