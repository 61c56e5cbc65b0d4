import type * as z from "zod";
import { describeValue } from "../texts";

export function inWords(issue: z.core.$ZodRawIssue): string | undefined {
    switch (issue.code) {
        case "unrecognized_keys":
            return `there is no field ${issue.keys.map((key) => JSON.stringify(key)).join(" or ")} here`;
        case "invalid_type":
            return wrong(issue.input, issue.expected.replace("string", "text"));
        case "invalid_value":
            return wrong(issue.input, oneOf(issue.values));
        case "invalid_union":
            return issue.discriminator === undefined
                ? undefined
                : wrong((issue.input as Record<string, unknown>)[issue.discriminator], oneOf(issue.options));
        case "too_small":
            return outside(issue.input, `${issue.inclusive ? "at least" : "above"} ${issue.minimum}`);
        case "too_big":
            return outside(issue.input, `${issue.inclusive ? "at most" : "below"} ${issue.maximum}`);
        default:
            return undefined;
    }
}

function wrong(input: unknown, allowed: string): string {
    if (input === undefined) return `is missing; allowed: ${allowed}`;
    return `is ${describeValue(input)}; allowed: ${allowed}`;
}

/** `"a", "b" or "c"` */
function oneOf(values: unknown): string {
    const quoted = [values].flat().map((value) => JSON.stringify(value));
    return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(quoted);
}

function outside(input: unknown, bound: string): string {
    if (typeof input === "string")
        return input.trim() === "" ? "is empty; allowed: text" : `has ${input.length} characters; allowed: ${bound}`;
    if (Array.isArray(input)) return `has ${input.length} items; allowed: ${bound}`;
    return `is ${String(input)}; allowed: ${bound}`;
}
