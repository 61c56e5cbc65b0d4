import type { Database } from "../shared/database";
import type { Accepted, Decided } from "../shared/orders";

/** How many pieces of each product there are, and which orders got theirs. */
export function openStock(database: Database) {
    return {
        /**
         * Decides an order: all that it asks for is taken from the stock, or nothing. Decision and stock change in one
         * transaction, so that an order that comes again gets the decision that is there, and the stock stays as it is.
         */
        reserve({ orderId, items }: Accepted): Promise<Decided> {
            return database.ask((sql) =>
                sql.begin(async (transaction): Promise<Decided> => {
                    const ids = items.map(({ productId }) => productId);
                    // In one order always, so that no two transactions wait for each other; and first, so that the same
                    // order in two places is seen below.
                    const stock = await transaction<{ product_id: string; quantity: number }[]>`
                        select product_id, quantity from stock where product_id in ${transaction(ids)}
                        order by product_id for update`;
                    const [decided] = await transaction<{ outcome: Decided["outcome"]; reason: string | null }[]>`
                        select outcome, reason from reservation where order_id = ${orderId}`;
                    if (decided) return { orderId, outcome: decided.outcome, ...(decided.reason !== null && { reason: decided.reason }) };

                    const left = new Map(stock.map(({ product_id, quantity }) => [product_id, quantity]));
                    const short = items.filter(({ productId, quantity }) => (left.get(productId) ?? 0) < quantity);
                    const reason = short.length === 0 ? undefined : `Out of stock: ${short.map(({ productId }) => productId).join(", ")}.`;
                    const outcome = reason === undefined ? "FULFILLED" : "REJECTED";
                    await transaction`
                        insert into reservation (order_id, outcome, reason) values (${orderId}, ${outcome}, ${reason ?? null})`;
                    if (outcome === "FULFILLED") {
                        for (const { productId, quantity } of items) {
                            await transaction`update stock set quantity = quantity - ${quantity} where product_id = ${productId}`;
                        }
                    }
                    return { orderId, outcome, ...(reason !== undefined && { reason }) };
                }),
            );
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
