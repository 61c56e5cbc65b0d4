import {
    type BackendResponse,
    backendResponseSchema,
    FALLBACK,
    type Product,
    REMOTE_SERVICE,
} from "../shared/products";
import { type Backend, call, type Exchange } from "./call";
import { BackendFailure } from "./failure";

/** Requests a backend's products. @throws BackendFailure */
export type Ask = (backend: Backend, exchange: Exchange) => Promise<BackendResponse>;

export const askBackend: Ask = async (backend, exchange) => {
    const { status, text } = await call(backend, exchange, { path: "/products" });
    if (status !== 200) throw new BackendFailure(backend.name, "bad-answer", `answered with status ${status}.`);
    try {
        return backendResponseSchema.parse(JSON.parse(text));
    } catch (cause) {
        const what = "answered with something that is not a product list.";
        throw new BackendFailure(backend.name, "bad-answer", what, cause);
    }
};

/** The backends by their part of the listing. */
export interface Backends {
    fashion: Backend;
    toys: Backend;
    hotDeals: Backend;
}

/** The source of a list, or why it is missing. */
export type Status = typeof REMOTE_SERVICE | "UNREACHABLE" | "TIMEOUT" | "BAD_ANSWER" | "CIRCUIT_OPEN";

export interface Part {
    response: BackendResponse | { responseType: typeof FALLBACK; products: Product[] };
    status: Status;
}

/** The aggregated product listing. Clients depend on these exact members. */
export interface ProductListing {
    fashionResponse: Part["response"];
    toysResponse: Part["response"];
    hotDealsResponse: Part["response"];
    /** The time it took to gather the lists, in whole milliseconds. */
    duration: number;
    statusFashion: Status;
    statusToys: Status;
    statusHotDeals: Status;
}

/** Builds a listing from the parts of all backends. */
export type Gather = (backends: Backends, part: (backend: Backend) => Promise<Part>) => Promise<ProductListing>;

export const atOnce: Gather = async ({ fashion, toys, hotDeals }, part) => {
    const begun = performance.now();
    return toListing(begun, await Promise.all([part(fashion), part(toys), part(hotDeals)]));
};

export const inTurn: Gather = async ({ fashion, toys, hotDeals }, part) => {
    const begun = performance.now();
    return toListing(begun, [await part(fashion), await part(toys), await part(hotDeals)]);
};

/**
 * Calls all backends at once, without a fallback. That is the point of the demo: the first failure fails the whole
 * listing, and the calls to the other backends are aborted.
 *
 * @throws BackendFailure the first failure
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

export function remote(response: BackendResponse): Part {
    return { response, status: REMOTE_SERVICE };
}

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
