import { join } from "node:path";
import { type CachePaths, cachePaths } from "../toolchain/parts/paths";

/** Where the sandbox keeps its files: in the cache, outside the checkout. */
export interface SandboxPaths extends CachePaths {
    /** The node's state: certificates, etcd, containerd, kubelet. `destroy` removes it. */
    readonly node: string;
    /** The kubeconfig of the running node; its one context is {@link sandboxContext}. */
    readonly kubeconfig: string;
}

/** The name of the sandbox's context in its kubeconfig. */
export const sandboxContext = "chaos-shop-sandbox";

/** See {@link cachePaths}. */
export function sandboxPaths(env: NodeJS.ProcessEnv = process.env): SandboxPaths {
    const paths = cachePaths(env);
    const node = join(paths.cache, "node");
    return { ...paths, node, kubeconfig: join(node, "kubeconfig") };
}
