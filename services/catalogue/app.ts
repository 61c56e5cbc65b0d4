import type { Hono } from "hono";
import * as z from "zod/mini";
import { createApplication } from "../shared/application";
import { databaseVariables, oneOf, programVariables } from "../shared/environment";
import { serveHealth } from "../shared/health";
import { type Log, reasonOf } from "../shared/log";
import { databaseUnavailable, problemResponse } from "../shared/problem";
import { type BackendResponse, CATEGORIES, type Category, REMOTE_SERVICE } from "../shared/products";
import type { ProductDatabase } from "./database";

/** The environment of a catalogue. */
export const catalogueEnvironment = z.object({
    ...programVariables,
    ...databaseVariables("shop_reader"),
    /** The category whose products it lists. */
    CATEGORY: oneOf(CATEGORIES),
});

interface CatalogueArgs {
    /** The category whose products it lists. */
    category: Category;
    database: ProductDatabase;
    log: Log;
}

/** A catalogue: `GET /products` lists the products of one category. Ready while the database can be reached. */
export function createCatalogue({ category, database, log }: CatalogueArgs): Hono {
    const application = createApplication(log);
    serveHealth(application, log, async () => {
        try {
            await database.check();
        } catch (cause) {
            throw new Error("The product database cannot be reached.", { cause });
        }
    });

    application.get("/products", async (context) => {
        try {
            const products = await database.products(category);
            return context.json({ responseType: REMOTE_SERVICE, products: [...products] } satisfies BackendResponse);
        } catch (error) {
            context.get("scope").log.warn({ cause: reasonOf(error) }, "could not read the products");
            return problemResponse(databaseUnavailable("The product database did not answer."));
        }
    });
    return application;
}
