import type { Category, Product } from "../shared/products";
import { type DatabaseArgs, openDatabase } from "../shared/database";
import { READINESS_TIMEOUT_MS } from "../shared/health";
import { within } from "../shared/time";

/** The product database as the catalogue needs it. */
export interface ProductDatabase {
    /** The products of a category by name. Fails within the query time-out, whatever the network does. */
    products(category: Category): Promise<Product[]>;
    /** Asks something, and has the server answer over a fresh connection; throws if either fails, or not within 800 ms. */
    check(): Promise<void>;
    /** Closes the pooled connections. */
    close(): Promise<void>;
}

export function openProductDatabase(args: DatabaseArgs): ProductDatabase {
    const database = openDatabase(args);
    return {
        products: (category) =>
            database.ask((sql) =>
                sql<Product[]>`select id, name, category from product where category = ${category} order by name`.execute(),
            ),
        async check() {
            const asked = database.ask((sql) => sql`select 1`.execute());
            await within(READINESS_TIMEOUT_MS, Promise.all([database.checkFreshConnection(), asked]));
        },
        close: () => database.close(),
    };
}
