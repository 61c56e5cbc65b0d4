import * as z from "zod/mini";

/** The categories of products. Each has its own catalogue program. */
export const CATEGORIES = ["FASHION", "TOYS", "HOT_DEALS"] as const;

/** A list from the backend that owns it. */
export const REMOTE_SERVICE = "REMOTE_SERVICE";

/** An empty list in place of a failed backend's. */
export const FALLBACK = "FALLBACK";

export const productSchema = z.object({
    id: z.uuid(),
    name: z.string().check(z.minLength(1)),
    category: z.enum(CATEGORIES),
});

/** A backend's response at `/products`. Other members are dropped. */
export const backendResponseSchema = z.object({
    responseType: z.literal(REMOTE_SERVICE),
    products: z.array(productSchema),
});

export type Category = (typeof CATEGORIES)[number];
export type Product = z.infer<typeof productSchema>;
export type BackendResponse = z.infer<typeof backendResponseSchema>;
