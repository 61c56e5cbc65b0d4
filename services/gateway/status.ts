import { CATEGORIES, type Category, type Product } from "../shared/products";
import type { Scope } from "../shared/scope";
import { reasonOf } from "../shared/log";
import type { Ask, Backend } from "./backend";
import { BackendFailure } from "./failure";
import type { Backends } from "./listing";
import type { Pod } from "./podList";

/** How long the API server may take, in milliseconds: less than a backend, so that nobody waits for it alone. */
const POD_LIST_TIMEOUT_MS = 1_000;

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
    listPods: (timeoutMs: number) => Promise<Pod[]>;
    /** The label of pods that an experiment attacks. */
    targetLabel: string;
}

/** How the shop is: each backend asked now, all at once, and the cluster asked which pods there are. */
export async function readStatus(args: StatusArgs, scope: Scope): Promise<ShopStatus> {
    const { fashion, toys, hotDeals } = args.backends;
    const [pods, ...categories] = await Promise.all([
        args.listPods(POD_LIST_TIMEOUT_MS).catch((error: unknown) => {
            scope.log.debug({ cause: reasonOf(error) }, "the API server could not be asked for pods");
            return null;
        }),
        ...[fashion, toys, hotDeals].map((backend, index) => readCategory(CATEGORIES[index]!, backend, args, scope)),
    ]);
    return { categories, ...readPods(pods, args.targetLabel) };
}

/** What the pods tell: orders is there in variant seven alone, and an experiment labels what it attacks. */
export function readPods(pods: Pod[] | null, targetLabel: string): Pick<ShopStatus, "variant" | "isolated"> {
    if (pods === null) return { variant: null, isolated: null };
    const attacked = pods.filter(({ labels }) => targetLabel in labels).map(({ name }) => name);
    return { variant: pods.some(({ labels }) => labels.app === "orders") ? "seven" : "four", isolated: attacked.sort() };
}

async function readCategory(category: Category, backend: Backend, { ask, upstreamTimeoutMs }: StatusArgs, scope: Scope): Promise<CategoryStatus> {
    const begun = performance.now();
    const latencyMs = () => Math.round(performance.now() - begun);
    try {
        const { products } = await ask(backend, { scope, timeoutMs: upstreamTimeoutMs });
        return { category, backend: backend.name, status: "UP", latencyMs: latencyMs(), products };
    } catch (error) {
        if (!(error instanceof BackendFailure)) throw error;
        return { category, backend: backend.name, status: "DOWN", latencyMs: latencyMs(), reason: error.message, products: [] };
    }
}
