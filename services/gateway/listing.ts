import { FALLBACK, REMOTE_SERVICE, type BackendResponse, type Product } from "../shared/products";
import type { Ask } from "./backend";
import type { Backend, Exchange } from "./call";

/** The backends by the part they have in the listing. */
export interface Backends {
    fashion: Backend;
    toys: Backend;
    hotDeals: Backend;
}

/** Where a list came from, or why it did not. */
export type Status = typeof REMOTE_SERVICE | "UNREACHABLE" | "TIMEOUT" | "BAD_ANSWER" | "CIRCUIT_OPEN";

/** One backend's part of a listing. */
export interface Part {
    response: BackendResponse | { responseType: typeof FALLBACK; products: Product[] };
    status: Status;
}

/** The gateway's aggregated product listing, member by member as clients of the shop know it. */
export interface ProductListing {
    fashionResponse: Part["response"];
    toysResponse: Part["response"];
    hotDealsResponse: Part["response"];
    /** How long it took to gather the lists, in whole milliseconds. */
    duration: number;
    statusFashion: Status;
    statusToys: Status;
    statusHotDeals: Status;
}

/** Puts a listing together from each backend's part. */
export type Gather = (backends: Backends, part: (backend: Backend) => Promise<Part>) => Promise<ProductListing>;

/** Asks all backends at once. */
export const atOnce: Gather = async ({ fashion, toys, hotDeals }, part) => {
    const begun = performance.now();
    return toListing(begun, await Promise.all([part(fashion), part(toys), part(hotDeals)]));
};

/** Asks one backend after another. */
export const inTurn: Gather = async ({ fashion, toys, hotDeals }, part) => {
    const begun = performance.now();
    return toListing(begun, [await part(fashion), await part(toys), await part(hotDeals)]);
};

/**
 * Asks all backends at once, without any fallback, which is the point of the demo: the first backend that fails ends the
 * whole listing at once, and the exchanges with the others are cut short.
 *
 * @throws BackendFailure of the first backend that failed
 */
export async function gatherWhole(backends: Backends, ask: Ask, exchange: Exchange): Promise<ProductListing> {
    const others = new AbortController();
    try {
        return await atOnce(backends, async (backend) =>
            remote(await ask(backend, { ...exchange, cancelled: others.signal })),
        );
    } catch (failure) {
        others.abort(failure);
        throw failure;
    }
}

/** The part of a backend that answered. */
export function remote(response: BackendResponse): Part {
    return { response, status: REMOTE_SERVICE };
}

/** The part of a backend that did not. */
export function fallback(status: Exclude<Status, typeof REMOTE_SERVICE>): Part {
    return { response: { responseType: FALLBACK, products: [] }, status };
}

function toListing(begun: number, [fashion, toys, hotDeals]: [Part, Part, Part]): ProductListing {
    return {
        fashionResponse: fashion.response,
        toysResponse: toys.response,
        hotDealsResponse: hotDeals.response,
        duration: Math.round(performance.now() - begun),
        statusFashion: fashion.status,
        statusToys: toys.status,
        statusHotDeals: hotDeals.status,
    };
}
