import type { RequestMatch, RequestPattern } from "./protocol";

/** The parts of a request's head that a match looks at. */
export interface Matchable {
    method: string;
    /** As in the first line: a path with its query or, for a proxy, a URL. */
    target: string;
    /** In their order, with names in lower case. */
    headers: readonly (readonly [name: string, value: string])[];
}

/** Compiles a match, once for all requests. */
export function matcherOf({ except = [], ...pattern }: RequestMatch): (request: Matchable) => boolean {
    const [isMeant, exceptions] = [testOf(pattern), except.map(testOf)];
    return (request) => isMeant(request) && !exceptions.some((isExcepted) => isExcepted(request));
}

function testOf({ path, method, headers = {} }: RequestPattern): (request: Matchable) => boolean {
    const wanted = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
    return (request) =>
        (method === undefined || request.method === method) &&
        (path === undefined || includesPath(path, pathOf(request.target))) &&
        wanted.every(([name, value]) => valueOf(request, name) === value);
}

/** Whether a path of a pattern includes another one, which may itself end in a `*`. */
export const includesPath = (wanted: string, path: string): boolean =>
    wanted === path || (wanted.endsWith("*") && path.startsWith(wanted.slice(0, -1)));

/** The path without the query, of a target that may be a whole URL (RFC 9112, 3.2). */
const pathOf = (target: string): string => /^(?:https?:\/\/[^/?]*)?([^?]*)/i.exec(target)![1] || "/";

/** Several lines of a header are one value, with commas between them (RFC 9110, 5.3). */
function valueOf({ headers }: Matchable, wanted: string): string | undefined {
    const lines = headers.filter(([name]) => name === wanted).map(([, value]) => value.trim());
    return lines.length === 0 ? undefined : lines.join(", ");
}
