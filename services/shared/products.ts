import * as z from "zod/mini";

/** The categories a product can have, and with them the catalogue programs there are. */
export const CATEGORIES = ["FASHION", "TOYS", "HOT_DEALS"] as const;

/** Says that a list came from the backend that owns it. */
export const REMOTE_SERVICE = "REMOTE_SERVICE";

/** Says that a list is what there is in place of the backend's own: an empty one. */
export const FALLBACK = "FALLBACK";

/** One product. */
export const productSchema = z.object({
    id: z.uuid(),
    name: z.string().check(z.minLength(1)),
    category: z.enum(CATEGORIES),
});

/** What a backend answers at `/products`. Members that are not named here are dropped. */
export const backendResponseSchema = z.object({
    responseType: z.literal(REMOTE_SERVICE),
    products: z.array(productSchema),
});

export type Category = (typeof CATEGORIES)[number];
export type Product = z.infer<typeof productSchema>;
export type BackendResponse = z.infer<typeof backendResponseSchema>;
