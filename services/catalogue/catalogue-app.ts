import type { Hono } from "hono";
import * as z from "zod/mini";
import { createApplication, orUnavailable } from "../shared/application";
import { type DatabaseEnvironment, openDatabase } from "../shared/database";
import type { Measure } from "../shared/calls";
import { databaseVariables, oneOf, programVariables } from "../shared/environment";
import { READINESS_TIMEOUT_MS, serveHealth } from "../shared/health";
import type { Log } from "../shared/log";
import type { Metrics } from "../shared/metrics";
import { type BackendResponse, CATEGORIES, type Category, type Product, REMOTE_SERVICE } from "../shared/products";
import { staleWhileRevalidate } from "../shared/stale-while-revalidate";
import { within } from "../shared/time";

export const catalogueEnvironment = z.object({
    ...programVariables,
    ...databaseVariables("shop_reader"),
    CATEGORY: oneOf(CATEGORIES),
});

/**
 * How long a list is cached, in milliseconds. Without the cache, the shop serves a third fewer requests per second. The
 * delay until a changed product or a lost database shows is too short to notice.
 */
export const CACHE_TTL_MS = 100;

export function openProductDatabase(environment: DatabaseEnvironment, measure: Measure) {
    const database = openDatabase(environment, "catalogue", measure);
    const ask = (category: Category) =>
        database.ask((sql) =>
            sql<Product[]>`select id, name, category from product where category = ${category} order by name`.execute(),
        );
    return {
        /** The products of a category, sorted by name, at most 100 ms old. Rejects within the query timeout. */
        products: staleWhileRevalidate(CACHE_TTL_MS, ask),
        /** Runs a query and opens a fresh connection; rejects if either fails or takes longer than 800 ms. */
        async check() {
            const asked = database.ask((sql) => sql`select 1`.execute());
            await within(READINESS_TIMEOUT_MS, Promise.all([database.checkFreshConnection(), asked]));
        },
        close: database.close,
    };
}
export type ProductDatabase = ReturnType<typeof openProductDatabase>;

interface CatalogueArgs {
    category: Category;
    database: ProductDatabase;
    metrics: Metrics;
    log: Log;
}

/** A catalogue: `GET /products` lists the products of one category. Ready while the database can be reached. */
export function createCatalogue({ category, database, metrics, log }: CatalogueArgs): Hono {
    const application = createApplication(log, metrics);
    serveHealth(application, log, async () => {
        try {
            await database.check();
        } catch (cause) {
            throw new Error("The product database cannot be reached.", { cause });
        }
    });

    application.get("/products", async (context) => {
        const products = await orUnavailable(context, database.products(category), {
            message: "could not read the products",
            detail: "The product database did not answer.",
        });
        return context.json({ responseType: REMOTE_SERVICE, products: [...products] } satisfies BackendResponse);
    });
    return application;
}
