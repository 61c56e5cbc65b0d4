import * as z from "zod";
import type { Mistake } from "../texts";

export interface Limits {
    /** The value is a number, and at least this. */
    atLeast?: number;
    /** The value is a number, and at most this. */
    atMost?: number;
    /** The exact value. Excludes the others. */
    equals?: string | number | boolean;
}

export const numberLimits = { atLeast: z.number().optional(), atMost: z.number().optional() };

/** What contradicts itself in limits, of which at least one is needed. */
export function limitMistakes({ atLeast, atMost, equals }: Limits): Mistake[] {
    const none = atLeast === undefined && atMost === undefined && equals === undefined;
    if (none) return [{ field: "atLeast", message: "missing; allowed: atLeast, atMost, both of them, or equals" }];
    if (equals !== undefined && (atLeast ?? atMost) !== undefined)
        return [{ field: "equals", message: "excludes `atLeast` and `atMost`" }];
    return atLeast !== undefined && atMost !== undefined && atLeast > atMost
        ? [{ field: "atMost", message: `${atMost} is less than atLeast, which is ${atLeast}` }]
        : [];
}

/** For people: `at least 2 and at most 5`. */
export function describeLimits({ atLeast, atMost, equals }: Limits): string {
    if (equals !== undefined) return JSON.stringify(equals);
    const each = [atLeast !== undefined && `at least ${atLeast}`, atMost !== undefined && `at most ${atMost}`];
    return each.filter((one) => one !== false).join(" and ");
}

/** How a value misses its limits: completes "status.readyReplicas …". Undefined if it meets them. */
export function missOf(value: unknown, limits: Limits): string | undefined {
    const { atLeast = -Infinity, atMost = Infinity, equals } = limits;
    const met =
        equals === undefined ? typeof value === "number" && value >= atLeast && value <= atMost : value === equals;
    if (met) return undefined;
    const shown = typeof value === "number" ? String(value) : (JSON.stringify(value) ?? "missing").slice(0, 80);
    return `is ${shown} (required: ${describeLimits(limits)})`;
}
