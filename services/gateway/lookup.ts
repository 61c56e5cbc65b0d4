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
 * Of a name in steady use nobody waits for the answer: whoever wants it in the second half of that moment has it asked
 * again, and takes what is known.
 *
 * @param rememberedMs so short that a name which is lost, or led elsewhere, shows at once; in milliseconds
 */
export function rememberingLookup(rememberedMs = 1_000, ask = ofSystem): LookupFunction {
    const known = new Map<string, { addresses: LookupAddress[]; since: number }>();
    const asking = new Map<string, Promise<LookupAddress[]>>();
    const askFor = (name: string): Promise<LookupAddress[]> => {
        const underWay = asking.get(name);
        if (underWay) return underWay;
        const remember = (addresses: LookupAddress[]) => {
            known.set(name, { addresses, since: performance.now() });
            return addresses;
        };
        const asked = ask(name)
            .then(remember)
            .finally(() => asking.delete(name));
        asking.set(name, asked);
        return asked;
    };
    const addressesOf = async (name: string): Promise<LookupAddress[]> => {
        const found = known.get(name);
        const ageMs = found ? performance.now() - found.since : Infinity;
        if (!found || ageMs >= rememberedMs) return askFor(name);
        // Where that fails, what is known holds for its moment; whoever asks after it is told.
        if (ageMs >= rememberedMs / 2) askFor(name).catch(() => undefined);
        return found.addresses;
    };
    return (name, { all }, callback) => {
        addressesOf(name).then(
            (addresses) => (all ? callback(null, addresses) : callback(null, addresses[0]!.address, addresses[0]!.family)),
            (error: NodeJS.ErrnoException) => callback(error, ""),
        );
    };
}
