import type { Hono } from "hono";
import { createApplication, orUnavailable } from "../shared/application";
import { serveHealth } from "../shared/health";
import type { Log } from "../shared/log";
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
        const listed = await orUnavailable(context, stock.list(), {
            message: "could not read the stock",
            detail: "The inventory's database did not answer.",
        });
        return context.json({ stock: listed });
    });
    return application;
}
