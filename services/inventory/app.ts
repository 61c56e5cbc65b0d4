import type { Hono } from "hono";
import { createApplication } from "../shared/application";
import { serveHealth } from "../shared/health";
import { type Log, reasonOf } from "../shared/log";
import { databaseUnavailable, ProblemError } from "../shared/problem";
import type { Stock } from "./stock";

export interface InventoryArgs {
    stock: Stock;
    /** Rejects when neither the database nor the broker can be reached. */
    checkReachability: () => Promise<void>;
    log: Log;
}

/** The inventory's HTTP side: `GET /stock` lists the stock of each product. Orders arrive through the broker. */
export function createInventory({ stock, checkReachability, log }: InventoryArgs): Hono {
    const application = createApplication(log);
    serveHealth(application, log, checkReachability);
    application.get("/stock", async (context) => {
        try {
            return context.json({ stock: await stock.list() });
        } catch (error) {
            context.get("scope").log.warn({ cause: reasonOf(error) }, "could not read the stock");
            throw new ProblemError(databaseUnavailable("The inventory's database did not answer."));
        }
    });
    return application;
}
