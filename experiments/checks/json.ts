/** Something that a JSON document must say. */
export interface JsonExpectation {
    /** Where: keys and indices joined by dots, such as `fashionResponse.products.0.id`. */
    path: string;
    /** Is exactly this. @default anything that is there */
    equals?: string | number | boolean | null;
    /** Is a list of at least so many. @default anything that is there */
    atLeast?: number;
}

/** What of it a document does not say, in words; undefined where it says all. */
export function unmet(expectations: readonly JsonExpectation[], document: object): string | undefined {
    for (const { path, equals, atLeast } of expectations) {
        const found = valueAt(document, path);
        if (found === undefined) return `${path} is missing`;
        if (equals !== undefined && found !== equals)
            return `${path} is ${JSON.stringify(found).slice(0, 80)} instead of ${JSON.stringify(equals)}`;
        if (atLeast === undefined) continue;
        if (!Array.isArray(found)) return `${path} is no list`;
        if (found.length < atLeast)
            return `${path} lists ${found.length === 0 ? "nothing" : found.length}, and at least ${atLeast} were asked for`;
    }
    return undefined;
}

function valueAt(document: unknown, path: string): unknown {
    return path
        .split(".")
        .reduce<unknown>(
            (value, key) =>
                typeof value === "object" && value !== null && Object.hasOwn(value, key)
                    ? (value as Record<string, unknown>)[key]
                    : undefined,
            document,
        );
}
