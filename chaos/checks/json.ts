import * as z from "zod";
import { notAllowed } from "../texts";

/** Something that a JSON document must contain. */
export interface JsonExpectation {
    /** Keys and indices joined by dots, such as `fashionResponse.products.0.id`. The value must exist. */
    path: string;
    /** The exact value. @default any value */
    equals?: string | number | boolean | null;
    /** The value is a list with at least this many items. @default any value */
    atLeast?: number;
}

export const scalarMistake = notAllowed("text, a number, true or false");

export const expectationSchema = z.strictObject({
    path: z.string().min(1),
    equals: z.union([z.string(), z.number(), z.boolean(), z.null()], { error: scalarMistake }).optional(),
    atLeast: z.int().nonnegative().optional(),
});

/** The beginning of a text, on one line. */
export const excerpt = (text: string) => text.replace(/\s+/g, " ").slice(0, 200);

export function parseJson(text: string): unknown {
    try {
        return JSON.parse(text);
    } catch {
        return undefined;
    }
}

/** The first expectation that a document does not meet, in words. Undefined if it meets all. */
export function unmet(
    expectations: readonly JsonExpectation[],
    document: unknown,
    hide: (text: string) => string = (text) => text,
): string | undefined {
    for (const { path, equals, atLeast } of expectations) {
        const found = valueAt(document, path);
        if (found === undefined) return `${path} is missing`;
        if (equals !== undefined && found !== equals) {
            return `${path} is ${hide(JSON.stringify(found)).slice(0, 80)} (required: ${JSON.stringify(equals)})`;
        }
        if (atLeast === undefined) continue;
        if (!Array.isArray(found)) return `${path} is not a list`;
        if (found.length < atLeast) return `${path} has ${found.length} items (required: at least ${atLeast})`;
    }
    return undefined;
}

/** The value at keys and indices that are joined by dots. Undefined if there is none. */
export function valueAt(document: unknown, path: string): unknown {
    return path.split(".").reduce<unknown>((value, key) => {
        const there = typeof value === "object" && value !== null && Object.hasOwn(value, key);
        return there ? (value as Record<string, unknown>)[key] : undefined;
    }, document);
}
