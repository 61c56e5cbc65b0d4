import { CATEGORIES, type Category, type Product } from "../shared/products";
import type { Scope } from "../shared/scope";
import { reasonOf } from "../shared/log";
import type { Ask } from "./backend";
import type { Backend } from "./call";
import { BackendFailure } from "./failure";
import type { Backends } from "./listing";

/** How long the cluster may take, in milliseconds: less than a backend, so that nobody waits for it alone. */
const CLUSTER_TIMEOUT_MS = 1_000;

/** One category as it is right now. */
export interface CategoryStatus {
    category: Category;
    /** The workload that it comes from. */
    backend: string;
    status: "UP" | "DOWN";
    /** How long it took to answer or to fail, in whole milliseconds. */
    latencyMs: number;
    /** Why it is down, in a sentence; else absent. */
    reason?: string;
    /** Empty while it is down. */
    products: Product[];
}

/** The shop as its page shows it. What only the cluster knows is null where that cannot be asked: unknown, never wrong. */
export interface ShopStatus {
    categories: CategoryStatus[];
    variant: "four" | "seven" | null;
    /** Names of the pods that an experiment attacks. */
    isolated: string[] | null;
}

export interface StatusArgs {
    backends: Backends;
    ask: Ask;
    /** How long one backend may take, in milliseconds. */
    upstreamTimeoutMs: number;
    podsLabelled: (label: string, timeoutMs: number) => Promise<string[]>;
    /** Whether the shop has orders; undefined where nobody says. */
    hasOrders: (timeoutMs: number) => Promise<boolean | undefined>;
    /** The label of pods that an experiment attacks. */
    targetLabel: string;
}

/** How the shop is: each backend asked now, all at once, and the cluster asked what else there is. */
export async function readStatus(args: StatusArgs, scope: Scope): Promise<ShopStatus> {
    const { fashion, toys, hotDeals } = args.backends;
    const [isolated, variant, ...categories] = await Promise.all([
        readIsolated(args, scope),
        readVariant(args),
        ...[fashion, toys, hotDeals].map((backend, index) => readCategory(CATEGORIES[index]!, backend, args, scope)),
    ]);
    return { categories, variant, isolated };
}

/** An experiment labels what it attacks. */
async function readIsolated({ podsLabelled, targetLabel }: StatusArgs, scope: Scope): Promise<ShopStatus["isolated"]> {
    try {
        return (await podsLabelled(targetLabel, CLUSTER_TIMEOUT_MS)).sort();
    } catch (error) {
        scope.log.debug({ cause: reasonOf(error) }, "the API server could not be asked for pods");
        return null;
    }
}

/** Variant seven has orders, however few pods of it run. The gateway is not told at its start: a change of variant does not restart it. */
async function readVariant({ hasOrders }: StatusArgs): Promise<ShopStatus["variant"]> {
    const found = await hasOrders(CLUSTER_TIMEOUT_MS);
    return found === undefined ? null : found ? "seven" : "four";
}

async function readCategory(
    category: Category,
    backend: Backend,
    { ask, upstreamTimeoutMs }: StatusArgs,
    scope: Scope,
): Promise<CategoryStatus> {
    const begun = performance.now();
    const latencyMs = () => Math.round(performance.now() - begun);
    try {
        const { products } = await ask(backend, { scope, timeoutMs: upstreamTimeoutMs });
        return { category, backend: backend.name, status: "UP", latencyMs: latencyMs(), products };
    } catch (error) {
        if (!(error instanceof BackendFailure)) throw error;
        return {
            category,
            backend: backend.name,
            status: "DOWN",
            latencyMs: latencyMs(),
            reason: error.message,
            products: [],
        };
    }
}
