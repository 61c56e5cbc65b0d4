import type { Hono } from "hono";
import * as z from "zod/mini";
import { createApplication, orUnavailable } from "../shared/application";
import { databaseVariables, oneOf, programVariables } from "../shared/environment";
import { serveHealth } from "../shared/health";
import type { Log } from "../shared/log";
import { type BackendResponse, CATEGORIES, type Category, REMOTE_SERVICE } from "../shared/products";
import type { ProductDatabase } from "./stored-products";

export const catalogueEnvironment = z.object({
    ...programVariables,
    ...databaseVariables("shop_reader"),
    CATEGORY: oneOf(CATEGORIES),
});

interface CatalogueArgs {
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
        const products = await orUnavailable(context, database.products(category), {
            message: "could not read the products",
            detail: "The product database did not answer.",
        });
        return context.json({ responseType: REMOTE_SERVICE, products: [...products] } satisfies BackendResponse);
    });
    return application;
}
