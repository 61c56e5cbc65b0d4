import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/**
 * Where built parts are kept, outside the checkout. `XDG_CACHE_HOME` moves the cache; a relative path there is ignored,
 * as its specification demands.
 *
 * @param env @default the environment of this process
 */
export function cachePaths(env: NodeJS.ProcessEnv = process.env) {
    const home = env.HOME || homedir();
    const cacheHome = env.XDG_CACHE_HOME && isAbsolute(env.XDG_CACHE_HOME) ? env.XDG_CACHE_HOME : join(home, ".cache");
    const cache = join(cacheHome, "chaos-shop");
    return {
        /** The whole cache. Parts are rebuilt after it is deleted. */
        cache,
        /** One folder per part; the folder's name ends in a hash of the part's inputs. */
        parts: join(cache, "parts"),
        /** One log per part, of its latest build. */
        logs: join(cache, "logs"),
        /** CLI versions and plugins. */
        pulumiHome: env.PULUMI_HOME || join(home, ".pulumi"),
    };
}
