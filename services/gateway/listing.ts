import { REMOTE_SERVICE, type BackendResponse } from "../shared/products";
import { askBackend, type Backend } from "./backend";

/** The backends by the part they have in the listing. */
export interface Backends {
    fashion: Backend;
    toys: Backend;
    hotDeals: Backend;
}

/** The gateway's aggregated product listing, member by member as clients of the shop know it. */
export interface ProductListing {
    fashionResponse: BackendResponse;
    toysResponse: BackendResponse;
    hotDealsResponse: BackendResponse;
    /** How long it took to gather the lists, in whole milliseconds. */
    duration: number;
    statusFashion: typeof REMOTE_SERVICE;
    statusToys: typeof REMOTE_SERVICE;
    statusHotDeals: typeof REMOTE_SERVICE;
}

/**
 * Asks all backends at once and puts their lists together. There is no fallback, which is the point of the demo: the
 * first backend that fails ends the whole listing at once, and the exchanges with the others are cut short.
 *
 * @param timeoutMs how long each backend may take, and since they are asked at once, the listing too
 * @throws BackendFailure of the first backend that failed
 */
export async function gatherListing(backends: Backends, timeoutMs: number): Promise<ProductListing> {
    const start = performance.now();
    const others = new AbortController();
    try {
        const [fashion, toys, hotDeals] = await Promise.all(
            [backends.fashion, backends.toys, backends.hotDeals].map((backend) =>
                askBackend(backend, timeoutMs, others.signal),
            ) as [Promise<BackendResponse>, Promise<BackendResponse>, Promise<BackendResponse>],
        );
        return {
            fashionResponse: fashion,
            toysResponse: toys,
            hotDealsResponse: hotDeals,
            duration: Math.round(performance.now() - start),
            statusFashion: REMOTE_SERVICE,
            statusToys: REMOTE_SERVICE,
            statusHotDeals: REMOTE_SERVICE,
        };
    } catch (failure) {
        others.abort(failure);
        throw failure;
    }
}
