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
