import { CATEGORIES, type Category, type Product } from "../shared/products";
import type { Scope } from "../shared/scope";
import { reasonOf } from "../shared/log";
import { attacksOn, type ShopAttack } from "./attacks";
import type { Backend } from "./call";
import type { CallReader, PodCalls } from "./call-counts";
import { BackendFailure } from "./failure";
import type { Ask, Backends } from "./listing";
import type { ListedPod } from "./pod-list";

/** Time limit of DNS, in milliseconds: shorter than that of a backend. */
const DNS_TIMEOUT_MS = 1_000;

export interface CategoryStatus {
    category: Category;
    /** The workload that serves it. */
    backend: string;
    status: "UP" | "DOWN";
    /** Time until the response or the failure, in whole milliseconds. */
    latencyMs: number;
    /** Why it is down, in a sentence. */
    reason?: string;
    /** Empty while it is down. */
    products: Product[];
}

/** What the shop's page shows. Null means that the cluster could not be asked. */
export interface ShopStatus {
    categories: CategoryStatus[];
    variant: "four" | "seven" | null;
    attacks: ShopAttack[] | null;
    /** What the programs have counted, as far as the gateway can ask them. */
    calls: PodCalls[];
}

export interface StatusArgs {
    backends: Backends;
    ask: Ask;
    upstreamTimeoutMs: number;
    /** The pods of the shop; rejects if the API server cannot be asked. */
    listPods: () => Promise<ListedPod[]>;
    readCalls: CallReader;
    /** Whether the shop has orders; undefined if DNS does not say. */
    hasOrders: (timeoutMs: number) => Promise<boolean | undefined>;
}

/** Calls all backends and asks the cluster, all at once. */
export async function readStatus(args: StatusArgs, scope: Scope): Promise<ShopStatus> {
    const { fashion, toys, hotDeals } = args.backends;
    const [pods, variant, ...categories] = await Promise.all([
        podsOrNull(args, scope),
        readVariant(args),
        ...[fashion, toys, hotDeals].map((backend, index) => readCategory(CATEGORIES[index]!, backend, args, scope)),
    ]);
    const calls = await args.readCalls(pods ?? [], scope);
    return { categories, variant, attacks: pods && attacksOn(pods), calls };
}

async function podsOrNull({ listPods }: StatusArgs, scope: Scope): Promise<ListedPod[] | null> {
    try {
        return await listPods();
    } catch (error) {
        scope.log.debug({ cause: reasonOf(error) }, "could not list pods");
        return null;
    }
}

/** Only variant seven has orders. Not a variable of the gateway, because a change of variant does not restart it. */
async function readVariant({ hasOrders }: StatusArgs): Promise<ShopStatus["variant"]> {
    const found = await hasOrders(DNS_TIMEOUT_MS);
    return found === undefined ? null : found ? "seven" : "four";
}

async function readCategory(
    category: Category,
    backend: Backend,
    { ask, upstreamTimeoutMs }: StatusArgs,
    scope: Scope,
): Promise<CategoryStatus> {
    const begun = performance.now();
    const about = () => ({ category, backend: backend.name, latencyMs: Math.round(performance.now() - begun) });
    try {
        const { products } = await ask(backend, { scope, timeoutMs: upstreamTimeoutMs });
        return { ...about(), status: "UP", products };
    } catch (error) {
        if (!(error instanceof BackendFailure)) throw error;
        return { ...about(), status: "DOWN", reason: error.message, products: [] };
    }
}
