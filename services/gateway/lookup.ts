import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";

/** The addresses of a name. */
type Ask = (name: string) => Promise<LookupAddress[]>;

/** As Node itself looks up names. */
const ofSystem: Ask = (name) => lookup(name, { all: true });

/** What was asked of a name, and whether it is time to ask again. */
interface Remembered {
    addresses: Promise<LookupAddress[]>;
    aging: boolean;
}

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
    const known = new Map<string, Remembered>();
    const askFor = (name: string): Remembered => {
        const asked: Remembered = { addresses: ask(name), aging: false };
        const forget = () => void (known.get(name) === asked && known.delete(name));
        const remember = () => {
            known.set(name, asked);
            setTimeout(() => (asked.aging = true), rememberedMs / 2).unref();
            setTimeout(forget, rememberedMs).unref();
        };
        asked.addresses.then(remember, forget);
        return asked;
    };
    const addressesOf = (name: string): Promise<LookupAddress[]> => {
        const found = known.get(name);
        if (found?.aging) {
            found.aging = false;
            askFor(name); // Where it fails, what is known holds for its moment; whoever asks after that is told.
        }
        if (found) return found.addresses;
        const asked = askFor(name);
        known.set(name, asked);
        return asked.addresses;
    };
    return (name, { all }, callback) => {
        addressesOf(name).then(
            (addresses) => (all ? callback(null, addresses) : callback(null, addresses[0]!.address, addresses[0]!.family)),
            (error: NodeJS.ErrnoException) => callback(error, ""),
        );
    };
}
