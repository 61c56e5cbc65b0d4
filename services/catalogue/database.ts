import type { Category, Product } from "../shared/products";
import { type DatabaseArgs, openDatabase } from "../shared/database";
import { READINESS_TIMEOUT_MS } from "../shared/health";
import { remembering } from "../shared/remember";
import { within } from "../shared/time";

/**
 * How long a list is remembered, in milliseconds: that much later a lost database shows, or a changed product, which nobody
 * notices. Under load one query does for dozens of requests; to ask for each costs the shop a third of its requests a second.
 */
export const REMEMBERED_MS = 100;

/** The product database as the catalogue needs it. */
export interface ProductDatabase {
    /** The products of a category by name, as they were at most 100 ms ago. Fails within the query time-out, whatever the network does. */
    products(category: Category): Promise<Product[]>;
    /** Asks something, and has the server answer over a fresh connection; throws if either fails, or not within 800 ms. */
    check(): Promise<void>;
    /** Closes the pooled connections. */
    close(): Promise<void>;
}

export function openProductDatabase(args: DatabaseArgs): ProductDatabase {
    const database = openDatabase(args);
    const ask = (category: Category) =>
        database.ask((sql) =>
            sql<Product[]>`select id, name, category from product where category = ${category} order by name`.execute(),
        );
    return {
        products: remembering(REMEMBERED_MS, ask),
        async check() {
            const asked = database.ask((sql) => sql`select 1`.execute());
            await within(READINESS_TIMEOUT_MS, Promise.all([database.checkFreshConnection(), asked]));
        },
        close: () => database.close(),
    };
}
