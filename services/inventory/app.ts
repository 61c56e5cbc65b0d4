import type { Hono } from "hono";
import { createApplication } from "../shared/application";
import { serveHealth } from "../shared/health";
import { type Log, reasonOf } from "../shared/log";
import { ProblemError, problemType } from "../shared/problem";
import type { Stock } from "./stock";

export interface InventoryArgs {
    stock: Stock;
    /** Throws when the program can reach neither the database nor the broker. */
    checkReachability: () => Promise<void>;
    log: Log;
}

/** The inventory's own address: `GET /stock` lists what is left of each product. Orders reach it through the broker. */
export function createInventory({ stock, checkReachability, log }: InventoryArgs): Hono {
    const application = createApplication(log);
    serveHealth(application, log, checkReachability);
    application.get("/stock", async (context) => {
        try {
            return context.json({ stock: await stock.list() });
        } catch (error) {
            context.get("scope").log.warn({ cause: reasonOf(error) }, "no stock");
            throw new ProblemError({
                type: problemType("database-unavailable"),
                title: "The database is not available",
                status: 503,
                detail: "The inventory's database did not answer.",
            });
        }
    });
    return application;
}
