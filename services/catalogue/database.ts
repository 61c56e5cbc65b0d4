import type { Category, Product } from "../shared/products";
import { type DatabaseArgs, openDatabase } from "../shared/database";

/** The product database as the catalogue needs it. */
export interface ProductDatabase {
    /** The products of a category by name. Fails within the query time-out, whatever the network does. */
    products(category: Category): Promise<Product[]>;
    /** Asks something, and has the server answer over a fresh connection; throws if either fails, or not within 800 ms. */
    checkFreshConnection(): Promise<void>;
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
        checkFreshConnection: () => database.checkFreshConnection(),
        close: () => database.close(),
    };
}
