import type { RequestMatch, RequestPattern } from "./protocol";

/** What counts for a match of the head of a request. */
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

/** Whether a path of a pattern includes another one, which may itself stand for all that begin with it. */
export const includesPath = (wanted: string, path: string): boolean =>
    wanted === path || (wanted.endsWith("*") && path.startsWith(wanted.slice(0, -1)));

/** The path of a request's target, without the query. RFC 9112, 3.2: a target may be a whole URL. */
const pathOf = (target: string): string => /^(?:https?:\/\/[^/?]*)?([^?]*)/i.exec(target)![1] || "/";

/** RFC 9110, 5.3: several lines of a header are one value, with commas between them. */
function valueOf({ headers }: Matchable, wanted: string): string | undefined {
    const lines = headers.filter(([name]) => name === wanted).map(([, value]) => value.trim());
    return lines.length === 0 ? undefined : lines.join(", ");
}
