import * as z from "zod";
import { onOneLine, quoted } from "../../values/quoted";
import { foundAt } from "./path";
import { type Mistake, notAllowed, together } from "../../values/texts";

/** Something that a JSON document must contain. */
export interface JsonExpectation {
    /** Keys and indices joined by dots, such as `fashionResponse.products.0.id`. The value must exist. */
    path: string;
    /** The exact value. @default any value */
    equals?: string | number | boolean | null;
    /** The value is a number, and at least this; or a list with at least this many items. @default any value */
    atLeast?: number;
    /** The value is a number, and at most this; or a list with at most this many items. @default any value */
    atMost?: number;
}

export const scalarMistake = notAllowed("text, a number, true or false");

export const numberLimits = { atLeast: z.number().optional(), atMost: z.number().optional() };

export const expectationSchema = z
    .strictObject({
        path: z.string().min(1),
        equals: z.union([z.string(), z.number(), z.boolean(), z.null()], { error: scalarMistake }).optional(),
        ...numberLimits,
    })
    .superRefine(...together<JsonExpectation>(contradictionsIn));

/** The beginning of an answer, in quotes, because it is the application's text. */
export const excerpt = (text: string) => quoted(text, 200);

/** Describes the first expectation that a document does not meet. @throws UnseenError as `foundAt` */
export function unmet(
    expectations: readonly JsonExpectation[],
    document: unknown,
    hide: (text: string) => string = (text) => text,
): string | undefined {
    for (const { path, equals, atLeast, atMost } of expectations) {
        const found = foundAt(document, path);
        if (found === undefined) return `${path} is missing`;
        if (equals !== undefined && found !== equals)
            return `${path} is ${onOneLine(hide(JSON.stringify(found)), 80)} (required: ${JSON.stringify(equals)})`;
        if (atLeast === undefined && atMost === undefined) continue;
        const [value, does, of] = Array.isArray(found) ? [found.length, "has", " items"] : [found, "is", ""];
        if (typeof value !== "number") return `${path} is neither a number nor a list`;
        if (value < (atLeast ?? -Infinity) || value > (atMost ?? Infinity))
            return `${path} ${does} ${value}${of} (required: ${describeLimits({ atLeast, atMost })})`;
    }
    return undefined;
}

export interface Limits {
    /** The value is a number, and at least this. */
    atLeast?: number;
    /** The value is a number, and at most this. */
    atMost?: number;
    /** The exact value. Excludes the others. */
    equals?: string | number | boolean;
}

/** Contradictions in limits, of which at least one is required. */
export function limitMistakes({ atLeast, atMost, equals }: Limits): Mistake[] {
    const none = atLeast === undefined && atMost === undefined && equals === undefined;
    if (none) return [{ field: "atLeast", message: "missing; allowed: atLeast, atMost, both of them, or equals" }];
    return contradictionsIn({ atLeast, atMost, equals });
}

function contradictionsIn({ atLeast, atMost, equals }: Omit<Limits, "equals"> & { equals?: unknown }): Mistake[] {
    if (equals !== undefined && (atLeast ?? atMost) !== undefined)
        return [{ field: "equals", message: "excludes `atLeast` and `atMost`" }];
    return atLeast !== undefined && atMost !== undefined && atLeast > atMost
        ? [{ field: "atMost", message: `${atMost} is less than atLeast, which is ${atLeast}` }]
        : [];
}

/** Such as `at least 2 and at most 5`. */
export function describeLimits({ atLeast, atMost, equals }: Limits): string {
    if (equals !== undefined) return JSON.stringify(equals);
    const each = [atLeast !== undefined && `at least ${atLeast}`, atMost !== undefined && `at most ${atMost}`];
    return each.filter((one) => one !== false).join(" and ");
}

/** How a value misses its limits: completes "status.readyReplicas …". */
export function missOf(value: unknown, limits: Limits): string | undefined {
    const { atLeast = -Infinity, atMost = Infinity, equals } = limits;
    const met =
        equals === undefined ? typeof value === "number" && value >= atLeast && value <= atMost : value === equals;
    if (met) return undefined;
    const shown = typeof value === "number" ? String(value) : onOneLine(JSON.stringify(value) ?? "missing", 80);
    return `is ${shown} (required: ${describeLimits(limits)})`;
}
