import * as z from "zod/mini";

/** What becomes of an order: `ACCEPTED` until the inventory has decided. */
export const ORDER_STATES = ["ACCEPTED", "FULFILLED", "REJECTED"] as const;
export type OrderState = (typeof ORDER_STATES)[number];

const quantity = "a whole number from 1 to 100";

/** Some pieces of one product. */
export const itemSchema = z.strictObject({
    productId: z.uuid("must be a product's id, a UUID").check(z.toLowerCase()),
    quantity: z.int(`must be ${quantity}`).check(z.gte(1, `must be ${quantity}`), z.lte(100, `must be ${quantity}`)),
});
export type Item = z.infer<typeof itemSchema>;

/** What orders tell the inventory: reserve this, once for each `orderId`. */
export const acceptedSchema = z.object({ orderId: z.uuid(), items: z.array(itemSchema).check(z.minLength(1)) });
export type Accepted = z.infer<typeof acceptedSchema>;

/** What the inventory answers; the same each time it is asked for the same order. */
export const decidedSchema = z.object({
    orderId: z.uuid(),
    outcome: z.enum(["FULFILLED", "REJECTED"]),
    /** Why it was rejected, for the customer. */
    reason: z.optional(z.string()),
});
export type Decided = z.infer<typeof decidedSchema>;
