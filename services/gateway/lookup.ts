import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";

/** The addresses of a name. */
type Ask = (name: string) => Promise<LookupAddress[]>;

/** As Node itself looks up names. */
const ofSystem: Ask = (name) => lookup(name, { all: true });

/**
 * Looks names up for connections, and remembers what it found for a moment. A gateway asks for the same few names in
 * each request: without this a fifth of what a listing costs the cluster is DNS, and in a lookup that hangs each request
 * would hold one of Node's four threads for it. A failure is not remembered, but shared with whoever asks meanwhile.
 *
 * @param rememberedMs so short that a name which is lost, or led elsewhere, shows at once; in milliseconds
 */
export function rememberingLookup(rememberedMs = 1_000, ask = ofSystem): LookupFunction {
    const known = new Map<string, Promise<LookupAddress[]>>();
    const addressesOf = (name: string) => {
        const found = known.get(name);
        if (found) return found;
        const asked = ask(name);
        const forget = () => known.delete(name);
        known.set(name, asked);
        asked.then(() => setTimeout(forget, rememberedMs).unref(), forget);
        return asked;
    };
    return (name, { all }, callback) => {
        addressesOf(name).then(
            (addresses) => (all ? callback(null, addresses) : callback(null, addresses[0]!.address, addresses[0]!.family)),
            (error: NodeJS.ErrnoException) => callback(error, ""),
        );
    };
}
