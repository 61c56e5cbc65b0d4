/** What a check's and a load's requests may say besides where they are sent. */
import * as z from "zod";
import { credentialsWithin, storedInClear } from "../../values/credentials";
import { isMethod } from "../../values/http-method";
import { type Mistake, notAllowed, notAMethod, refusing } from "../../values/texts";
import { fromSecrets } from "./endpoint-schema";
import { fieldPattern, joinKeys, keysOf, valueAt } from "./path";

const status = z.int().min(100).max(599);
const statusMistake = notAllowed("a status from 100 to 599, or a list of the least and the most");
const statuses = z.union(
    [status, z.tuple([status, status]).refine(([least, most]) => least <= most, { error: statusMistake })],
    { error: statusMistake },
);
const json = z.json();
const method = z
    .string({ error: notAMethod })
    .refine(isMethod, { error: notAMethod })
    .refine((name) => name !== "CONNECT", { error: "CONNECT asks for a tunnel, and has no path; use another method" });

export const requestSchema = {
    method: method.optional(),
    body: z
        .looseObject({})
        .refine((body) => json.safeParse(body).success, {
            error: "holds what JSON does not know, such as a date",
        })
        .superRefine(
            refusing((body) =>
                credentialsWithin(body).map(({ path, what }) => ({
                    path,
                    message: storedInClear(what, "use bodyFrom with a Secret"),
                })),
            ),
        )
        .optional(),
    bodyFrom: fromSecrets(
        fieldPattern,
        "not a field; allowed: keys joined by dots, such as login.password; a dot in a key is written as \\.",
    ).optional(),
    status: statuses.optional(),
};

/** The least and the greatest good status. */
export const statusRange = (wanted: number | readonly [number, number] = [200, 299]): readonly [number, number] =>
    typeof wanted === "number" ? [wanted, wanted] : wanted;

/** The names of the parameters that a path has. It may be anything that a person has written. */
export const queryNamesIn = (path: unknown): string[] => [
    ...new URLSearchParams(/\?.*/s.exec(String(path))?.[0]).keys(),
];

/** A secret must not replace another value of the body. */
export function bodyMistakes({ body, bodyFrom }: { body?: Record<string, unknown>; bodyFrom?: object }): Mistake[] {
    return Object.keys(bodyFrom ?? {}).flatMap((path) => {
        const keys = keysOf(path);
        const ways = keys.map((_, index) => joinKeys(keys.slice(0, index + 1)));
        const taken = ways.find((way, index) => {
            const value = valueAt(body, way);
            return value !== undefined && (index === keys.length - 1 || typeof value !== "object" || value === null);
        });
        return taken === undefined ? [] : [{ field: "bodyFrom", message: `\`body\` has a value at ${taken} already` }];
    });
}
