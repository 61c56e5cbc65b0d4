import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { remembering } from "../shared/remember";

/** The addresses of a name, as Node itself looks it up. */
const ofSystem = (name: string): Promise<LookupAddress[]> => lookup(name, { all: true });

/**
 * Looks names up for connections, and remembers what it found for a moment. A gateway asks for the same few names in
 * each request: without this a fifth of what a listing costs the cluster is DNS, and in a lookup that hangs each request
 * would hold one of Node's four threads for it.
 *
 * @param rememberedMs so short that a name which is lost, or led elsewhere, shows at once; in milliseconds
 */
export function rememberingLookup(rememberedMs = 1_000, ask = ofSystem): LookupFunction {
    const addressesOf = remembering(rememberedMs, ask);
    return (name, { all }, callback) => {
        addressesOf(name).then(
            (addresses) =>
                all ? callback(null, addresses) : callback(null, addresses[0]!.address, addresses[0]!.family),
            (error: NodeJS.ErrnoException) => callback(error, ""),
        );
    };
}
