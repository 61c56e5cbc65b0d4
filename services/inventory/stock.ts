import type { Database } from "../shared/database";
import type { Accepted, Decided } from "../shared/orders";

/** How many pieces of each product there are, and which orders got theirs. */
export function openStock(database: Database) {
    return {
        /**
         * Decides an order, by `reserve` in the database: all that it asks for is taken from the stock, or nothing. An
         * order that comes again gets the decision that is there, and the stock stays as it is.
         */
        reserve({ orderId, items }: Accepted): Promise<Decided> {
            return database.ask(async (sql) => {
                const [decided] = await sql<{ outcome: Decided["outcome"]; reason: string | null }[]>`
                    select outcome, reason from reserve(${orderId}, ${sql.json(items)})`;
                const { outcome, reason } = decided!;
                return { orderId, outcome, ...(reason !== null && { reason }) };
            });
        },

        /** What is left of each product. */
        list(): Promise<{ productId: string; quantity: number }[]> {
            return database.ask((sql) =>
                sql<{ productId: string; quantity: number }[]>`
                    select product_id as "productId", quantity from stock order by product_id`.execute(),
            );
        },
    };
}
export type Stock = ReturnType<typeof openStock>;
