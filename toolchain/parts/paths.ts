import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Where built parts are kept, outside the checkout. */
export interface CachePaths {
    /** The whole cache. Parts are rebuilt after it is deleted. */
    readonly cache: string;
    /** One folder per part; the folder's name ends in a hash of the part's inputs. */
    readonly parts: string;
    /** One log per part, of its latest build. */
    readonly logs: string;
    /** `$PULUMI_HOME`, else `~/.pulumi`: CLI versions and plugins. */
    readonly pulumiHome: string;
}

/**
 * Reads the paths from the environment. `XDG_CACHE_HOME` moves the cache; a relative path there is ignored, as its
 * specification demands.
 *
 * @param env @default the environment of this process
 */
export function cachePaths(env: NodeJS.ProcessEnv = process.env): CachePaths {
    const home = env.HOME || homedir();
    const cacheHome = env.XDG_CACHE_HOME && isAbsolute(env.XDG_CACHE_HOME) ? env.XDG_CACHE_HOME : join(home, ".cache");
    const cache = join(cacheHome, "chaos-shop");
    return {
        cache,
        parts: join(cache, "parts"),
        logs: join(cache, "logs"),
        pulumiHome: env.PULUMI_HOME || join(home, ".pulumi"),
    };
}
