import * as z from "zod/mini";

/** An order is `ACCEPTED` until the inventory decides. */
export const ORDER_STATES = ["ACCEPTED", "FULFILLED", "REJECTED"] as const;
export type OrderState = (typeof ORDER_STATES)[number];

const quantity = "a whole number from 1 to 100";

export const itemSchema = z.strictObject({
    productId: z.uuid("must be a product's id, a UUID").check(z.toLowerCase()),
    quantity: z.int(`must be ${quantity}`).check(z.gte(1, `must be ${quantity}`), z.lte(100, `must be ${quantity}`)),
});
export type Item = z.infer<typeof itemSchema>;

/** From orders to the inventory: reserve these items, once per `orderId`. */
export const acceptedSchema = z.object({ orderId: z.uuid(), items: z.array(itemSchema).check(z.minLength(1)) });
export type Accepted = z.infer<typeof acceptedSchema>;

/** The inventory's reply, the same each time for the same order. */
export const decidedSchema = z.object({
    orderId: z.uuid(),
    outcome: z.enum(["FULFILLED", "REJECTED"]),
    /** Why the order was rejected, for the customer. */
    reason: z.optional(z.string()),
});
export type Decided = z.infer<typeof decidedSchema>;

/** The longest wait that a request may ask for, in seconds. */
const LONGEST_WAIT_SECONDS = 30;

/**
 * How long a client prefers to wait for a result, in milliseconds: `Prefer: wait=10`, in seconds (RFC 7240). A longer
 * wait than 30 s counts as 30 s. As the RFC demands, what cannot be read is ignored.
 *
 * @param header the value of `Prefer`
 */
export function waitMsOf(header: string | undefined): number {
    const [, seconds = "0"] = /(?:^|,)\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[,;]|$)/i.exec(header ?? "") ?? [];
    return Math.min(Number(seconds), LONGEST_WAIT_SECONDS) * 1_000;
}
