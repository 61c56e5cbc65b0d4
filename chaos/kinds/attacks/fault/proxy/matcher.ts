import { Hit } from "./hit";
import { type Effect, type ProxyFault, type RequestMatch, type RequestPattern, statusOf } from "./protocol";
import { Turns } from "./turns";

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

/** What else a proxy knows of its fault. */
export interface FaultContext {
    /** From 0 to 1, without 1. @default Math.random */
    random?: () => number;
    /** Since when answers count, in milliseconds of `performance.now()`. Undefined if they do not yet. @default never */
    countingSince?: () => number | undefined;
    /** Called when a client has had all of its `first`. */
    served?: () => void;
}

export class Faults {
    over = false;
    /** Whether only HTTP/1.1 in clear text can be faulted: nothing else has a status, or what a match looks at. */
    readonly needsHttp: boolean;
    /** Whether the match includes a request. The pod that it goes to does not count. */
    readonly means: (request: Matchable) => boolean;
    private readonly targets: ReadonlySet<string>;
    private readonly turns: Turns;
    private readonly countingSince: () => number | undefined;

    constructor(
        private readonly fault: ProxyFault,
        targets: readonly string[],
        { random = Math.random, countingSince = () => undefined, served }: FaultContext = {},
    ) {
        this.targets = new Set(targets);
        this.means = fault.match ? matcherOf(fault.match) : () => true;
        this.needsHttp = fault.match !== undefined || statusOf(fault.abort) !== undefined;
        this.turns = new Turns(fault, random, served);
        this.countingSince = countingSince;
    }

    get hasMatch(): boolean {
        return this.fault.match !== undefined;
    }

    get acts(): boolean {
        return !this.over && this.isOn !== false;
    }

    get pauses(): boolean {
        return !this.over && this.isOn === false && this.countingSince() !== undefined;
    }

    /** Whether the pulse is on: from when answers count, then off, and so on. Undefined without a pulse. */
    private get isOn(): boolean | undefined {
        const { pulse } = this.fault;
        if (!pulse) return undefined;
        const since = this.countingSince() ?? Infinity;
        return (performance.now() - since) % (pulse.onMs + pulse.offMs) < pulse.onMs;
    }

    /**
     * Whether the next request to a pod, or the next connection, is hit. Undefined if it is passed on as it is.
     *
     * @param client address of its caller
     * @param count called with each effect that the fault has on it
     */
    draw(uid: string, client: string, count: (effect: Effect) => void): Hit | undefined {
        const fault = this.to(uid);
        if (fault === undefined || (fault.first !== undefined && this.countingSince() === undefined)) return undefined;
        return this.turns.next(client) ? new Hit(fault, this, count) : undefined;
    }

    /** What becomes of requests to a pod that are hit. */
    to(uid: string): ProxyFault | undefined {
        return !this.over && this.targets.has(uid) ? this.fault : undefined;
    }
}
