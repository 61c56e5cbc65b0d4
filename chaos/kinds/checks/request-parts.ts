/** The parts of a request, as a check's and a load's have them. Few imports: the program that sends a load has this. */
import { randomUUID } from "node:crypto";

type Body = Record<string, unknown> | undefined;

/** Headers in which each `{uuid}` is replaced by a new UUID. */
export const withUuids = (headers: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, value.replaceAll("{uuid}", () => randomUUID())]),
    );

/** A path with further parameters. @param query names and values, not encoded */
export function withQuery(path: string, query: Record<string, string> = {}): string {
    const added = Object.entries(query).map((pair) => pair.map(encodeURIComponent).join("="));
    if (added.length === 0) return path;
    const between = /[?&]$/.test(path) ? "" : path.includes("?") ? "&" : "?";
    return path + between + added.join("&");
}

/** A body with further fields. @param fields values, and the keys that lead to each: see `keysOf` */
export function withFields(body: Body, fields: readonly (readonly [keys: readonly string[], value: string])[]): Body {
    if (fields.length === 0) return body;
    const whole = structuredClone(body ?? {});
    for (const [keys, value] of fields) {
        let place = whole;
        for (const key of keys.slice(0, -1)) {
            if (!Object.hasOwn(place, key)) place[key] = {};
            place = place[key] as Record<string, unknown>;
        }
        place[keys.at(-1)!] = value;
    }
    return whole;
}

/**
 * Path and query as they are sent. What a path cannot contain by RFC 3986 is encoded, even what `URL` leaves, as the
 * API server's proxy does it. Node.js leaves out the mark of an empty query.
 */
export function requestTarget({ pathname, search, href }: URL): string {
    const path = pathname.replace(/[[\]|^]/g, (character) => encodeURIComponent(character));
    return path + (search || (href.endsWith("?") ? "?" : ""));
}

/** This machine has no DNS, network or free port. A host that is unreachable may be one that the attack has cut off. */
const codesOfThisMachine = ["EADDRNOTAVAIL", "EAI_AGAIN", "EMFILE", "ENETDOWN", "ENETUNREACH", "ENOTFOUND"];

/** Whether a connection failed on this machine, at each address, before any request was sent. */
export function isOfThisMachine(error: NodeJS.ErrnoException | AggregateError): boolean {
    const errors = ("errors" in error ? error.errors : [error]) as NodeJS.ErrnoException[];
    return errors.every(({ code }) => codesOfThisMachine.includes(code ?? ""));
}
