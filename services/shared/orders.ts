import * as z from "zod";

/** What becomes of an order: `ACCEPTED` until the inventory has decided. */
export const ORDER_STATES = ["ACCEPTED", "FULFILLED", "REJECTED"] as const;
export type OrderState = (typeof ORDER_STATES)[number];

const quantity = "a whole number from 1 to 100";

/** Some pieces of one product. */
export const itemSchema = z.strictObject({
    productId: z.uuid("must be a product's id, a UUID").toLowerCase(),
    quantity: z.int(`must be ${quantity}`).min(1, `must be ${quantity}`).max(100, `must be ${quantity}`),
});
export type Item = z.infer<typeof itemSchema>;

/** What orders tell the inventory: reserve this, once for each `orderId`. */
export const acceptedSchema = z.object({ orderId: z.uuid(), items: z.array(itemSchema).min(1) });
export type Accepted = z.infer<typeof acceptedSchema>;

/** What the inventory answers; the same each time it is asked for the same order. */
export const decidedSchema = z.object({
    orderId: z.uuid(),
    outcome: z.enum(["FULFILLED", "REJECTED"]),
    /** Why it was rejected, for the customer. */
    reason: z.string().optional(),
});
export type Decided = z.infer<typeof decidedSchema>;
