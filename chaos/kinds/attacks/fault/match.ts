/** Which requests a fault is done to, in words, and the requests that prove it. */
import { METHODS } from "node:http";
import { includesPath, type Matchable, matcherOf } from "./proxy/matcher";
import type { RequestMatch, RequestPattern } from "./proxy/protocol";

/** Completes "the requests", as in "the requests GET /api/* with x-request-id: mine". */
export function describeMatch({ except = [], ...pattern }: RequestMatch): string {
    const excepted = except.map((one) => describePattern(one)).join(" or ");
    return [describePattern(pattern), excepted && `except ${excepted}`].filter(Boolean).join(" ");
}

function describePattern({ path, method, headers = {} }: RequestPattern): string {
    const place = path === undefined ? method && `by ${method}` : method ? `${method} ${path}` : `to ${path}`;
    const values = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    return [place, values.length > 0 && `with ${values.join(" and ")}`].filter(Boolean).join(" ");
}

/** A request that the witness asks the proxy about. It reaches no pod. */
export interface Sample {
    /** As it is sent. Empty if the witness need not ask about a request. */
    head: string;
    /** Completes "a request" that does not match, as in "a request to another path". Absent if it matches. */
    differs?: string;
}

/** A request that matches, then one of each sort that does not. Without a match, any request matches. */
export function samplesOf(match: RequestMatch | undefined): Sample[] {
    if (match === undefined) return [{ head: "" }];
    const matching = matchingSample(match);
    return [{ head: headOf(matching) }, ...differing(match, matching)];
}

/** What contradicts itself in a match, and where. */
export function contradictionsIn(match: RequestMatch): { path: (string | number)[]; message: string }[] {
    const { except = [], ...pattern } = match;
    const idle = except.flatMap((one, index) => (common(pattern, one) === undefined ? [index] : []));
    if (idle.length > 0) {
        const message = "excepts nothing: no request matches both it and the other fields; change it, or leave it out";
        return idle.map((index) => ({ path: ["except", index], message }));
    }
    const matching = matchingSample(match);
    if (!matcherOf(match)(matching)) return [{ path: ["except"], message: "excepts every request that matches" }];
    if (differing(match, matching).length > 0) return [];
    const message = "matches every request; leave it out, or set a path, a method, headers or an exception";
    return [{ path: [], message }];
}

/** Hardly any application has a path that ends so. */
const anything = "chaos-experiments";
/** Ends that begin differently: an exception of the prefix `/c*` leaves others. */
const ends = [anything, ...[..."0123456789abcdefghijklmnopqrstuvwxyz"].map((first) => `${first}-${anything}`)];
const methods = ["GET", "HEAD", "POST", "PUT", "DELETE", ...METHODS, anything.toUpperCase()];

/** A request that matches, if there is one, and that shares with an exception only what it must. */
function matchingSample(match: RequestMatch): Matchable {
    const { except = [], ...pattern } = match;
    const isExcepted = (method: string) => Number(except.some((one) => one.method === method));
    const sorted = [...methods].sort((a, b) => isExcepted(a) - isExcepted(b));
    const candidates = ends.flatMap((end) => sorted.map((method) => requestOf({ method, ...pattern }, end)));
    return candidates.find(matcherOf(match)) ?? candidates[0]!;
}

const requestOf = ({ path = "/*", method = "GET", headers = {} }: RequestPattern, end = anything): Matchable => ({
    method,
    target: path.replace(/\*$/, end),
    headers: Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const),
});

function differing({ path, method, headers, except = [] }: RequestMatch, matching: Matchable): Sample[] {
    const target = path && ["/a", "/b"].find((other) => !includesPath(path, other));
    const pattern = { path, method, headers };
    return [
        ...(target ? [{ differs: "to another path", head: headOf({ ...matching, target }) }] : []),
        ...(method
            ? [
                  {
                      differs: "by another method",
                      head: headOf({ ...matching, method: method === "GET" ? "PUT" : "GET" }),
                  },
              ]
            : []),
        ...matching.headers.map(([name]) => {
            const others = matching.headers.filter(([other]) => other !== name);
            return { differs: `without ${name}`, head: headOf({ ...matching, headers: others }) };
        }),
        // It is named by its place: in words it may be long, and the Job's reports repeat it.
        ...except.map((one, index) => ({
            differs: `of match.except.${index}`,
            head: headOf(requestOf(common(pattern, one) ?? one)),
        })),
    ];
}

/** What two patterns have in common. Undefined if no request matches both. */
function common(one: RequestPattern, other: RequestPattern): RequestPattern | undefined {
    const [path, otherPath] = [one.path ?? "/*", other.path ?? "/*"];
    const narrower = includesPath(path, otherPath) ? otherPath : path;
    const headers = new Map<string, string>();
    for (const [name, value] of [one, other].flatMap((pattern) => Object.entries(pattern.headers ?? {}))) {
        if ((headers.get(name.toLowerCase()) ?? value) !== value) return undefined;
        headers.set(name.toLowerCase(), value);
    }
    const method = one.method ?? other.method;
    if ((other.method ?? method) !== method || !includesPath(otherPath, narrower)) return undefined;
    return { path: narrower, method, headers: Object.fromEntries(headers) };
}

const headOf = ({ method, target, headers }: Matchable): string =>
    [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`), "", ""].join("\r\n");
