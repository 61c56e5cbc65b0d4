import { validateHeaderName } from "node:http";
import * as z from "zod";
import { carriesCredential, credentialIn, describeValueOf, storedInClear } from "../../../values/credentials";
import { allowedMethods, isMethod } from "../../../values/http-method";
import { notAllowed } from "../../../values/texts";
import { contradictionsIn } from "./match";
import type { RequestMatch } from "./proxy/protocol";

const notAPath = notAllowed(
    'a path as it is sent, without a query, such as "/api/orders", or "/api/*" for all that begin with "/api/"',
    "a path",
);
const notAMethod = notAllowed(allowedMethods, "a method");
const elsewhere = "match another header, such as x-request-id, or a path";

/** The proxy reads 64 KiB of a request's head. */
const longest = 4_096;

const path = z
    .string({ error: notAPath })
    .max(longest)
    .regex(/^\/[!"$-)+->@-~]*\*?$/, { error: notAPath });
const method = z.string({ error: notAMethod }).refine(isMethod, { error: notAMethod });
const headers = z.record(z.string(), z.string().max(longest)).superRefine((all, context) => {
    const names = Object.keys(all);
    for (const [index, name] of names.entries())
        for (const message of headerMistakes(name, all[name]!, names.slice(0, index)))
            context.addIssue({ code: "custom", path: [name], message });
});

function headerMistakes(name: string, value: string, earlier: readonly string[]): string[] {
    const credential = carriesCredential(name) ? describeValueOf(name) : credentialIn(value);
    if (credential) return [storedInClear(credential, elsewhere)];
    const same = earlier.find((other) => other.toLowerCase() === name.toLowerCase());
    const isSendable = /^[!-~](?:[\t -~]*[!-~])?$/.test(value);
    return [
        ...(isHeaderName(name) ? [] : ["is not the name of a header; allowed: such as x-request-id"]),
        ...(same === undefined ? [] : [`is ${same} already: names of headers have no case; leave one of them out`]),
        ...(isSendable ? [] : ["is not a header's value; allowed: text in ASCII without spaces around it"]),
    ];
}

function isHeaderName(name: string): boolean {
    try {
        validateHeaderName(name);
        return true;
    } catch {
        return false;
    }
}

const pattern = { path: path.optional(), method: method.optional(), headers: headers.optional() };

/** What a definition may say of a match. */
export const matchSchema = z
    .strictObject({ ...pattern, except: z.array(z.strictObject(pattern)).nonempty().optional() })
    .superRefine(
        (match, context) => {
            for (const contradiction of contradictionsIn(match)) context.addIssue({ code: "custom", ...contradiction });
        },
        { when: ({ issues }) => issues.length === 0 },
    ) satisfies z.ZodType<RequestMatch>;
