import type * as z from "zod";

/** A mistake that lies in several fields together. */
export interface Mistake {
    field: string;
    message: string;
}

/**
 * Reports mistakes that lie in several fields, also if some of these are mistakes on their own: all are told at once.
 *
 * @returns arguments for `superRefine`
 */
export function together<T>(
    mistakesIn: (check: Partial<T>) => Mistake[],
): [(check: T, context: z.RefinementCtx) => void, { when: () => true }] {
    const report = (check: T, context: z.RefinementCtx) => {
        for (const { field, message } of mistakesIn(check ?? {}))
            context.addIssue({ code: "custom", path: field.split("."), message });
    };
    return [report, { when: () => true }];
}
