import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { staleWhileRevalidate } from "../shared/stale-while-revalidate";

const systemLookup = (name: string): Promise<LookupAddress[]> => lookup(name, { all: true });

/**
 * A cached DNS lookup for connections. The gateway looks up the same few names for each request: without the cache, DNS
 * is a fifth of what a listing costs the cluster, and a lookup that hangs holds one of Node's four threads per request.
 *
 * @param ttlMs in milliseconds; short, because a lost or changed address must show at once
 */
export function cachedLookup(ttlMs = 1_000, load = systemLookup): LookupFunction {
    const addressesOf = staleWhileRevalidate(ttlMs, load);
    return (name, { all }, callback) => {
        addressesOf(name).then(
            (addresses) =>
                all ? callback(null, addresses) : callback(null, addresses[0]!.address, addresses[0]!.family),
            (error: NodeJS.ErrnoException) => callback(error, ""),
        );
    };
}
