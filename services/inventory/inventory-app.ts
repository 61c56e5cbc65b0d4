import type { Hono } from "hono";
import type { BackofficeArgs } from "../backoffice/connect";
import { createApplication, orUnavailable } from "../shared/application";
import { serveHealth } from "../shared/health";
import type { Database } from "../shared/database";
import type { Accepted, Decided } from "../shared/order";

/** The stock of each product, and the reservations of orders. */
export function openStock(database: Database) {
    return {
        /**
         * Decides an order with the database's function `reserve`: takes all of its items from the stock, or none. A
         * repeated order gets the first decision, and the stock stays the same.
         */
        reserve({ orderId, items }: Accepted): Promise<Decided> {
            return database.ask(async (sql) => {
                const [decided] = await sql<{ outcome: Decided["outcome"]; reason: string | null }[]>`
                    select outcome, reason from reserve(${orderId}, ${sql.json(items)})`;
                const { outcome, reason } = decided!;
                return { orderId, outcome, ...(reason !== null && { reason }) };
            });
        },

        list(): Promise<{ productId: string; quantity: number }[]> {
            return database.ask((sql) =>
                sql<{ productId: string; quantity: number }[]>`
                    select product_id as "productId", quantity from stock order by product_id`.execute(),
            );
        },
    };
}
export type Stock = ReturnType<typeof openStock>;

export interface InventoryArgs extends BackofficeArgs {
    stock: Stock;
}

/** The inventory's HTTP side: `GET /stock` lists the stock of each product. Orders arrive through the broker. */
export function createInventory({ stock, checkReachability, metrics, log }: InventoryArgs): Hono {
    const application = createApplication(log, metrics);
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
