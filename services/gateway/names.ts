import type { LookupAddress } from "node:dns";
import { lookup, Resolver } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { isIP, type LookupFunction } from "node:net";
import { staleWhileRevalidate } from "../shared/stale-while-revalidate";

const systemLookup = (name: string): Promise<LookupAddress[]> => lookup(name, { all: true });

/**
 * A cached DNS lookup for connections. The gateway looks up the same few names for each request: without the cache, DNS
 * is a fifth of what a listing costs the cluster, and a lookup that hangs holds one of Node's four threads per request.
 *
 * @param ttlMs in milliseconds; short, because a lost or changed address must show at once
 */
export function cachedLookup(ttlMs = 1_000, load = systemLookup): LookupFunction {
    const addressesOf = staleWhileRevalidate(ttlMs, load);
    return (name, { all }, callback) => {
        addressesOf(name).then(
            (addresses) =>
                all ? callback(null, addresses) : callback(null, addresses[0]!.address, addresses[0]!.family),
            (error: NodeJS.ErrnoException) => callback(error, ""),
        );
    };
}

export interface Dns {
    /** Appended to names that do not end in a dot. */
    searchDomain?: string | undefined;
    /** Addresses of DNS servers, with a port if it is not 53. @default those of the system */
    servers?: string[];
}

/** Error codes of c-ares that mean a DNS server answered, though without an address. */
const ANSWERED = new Set(["ENOTFOUND", "ENODATA", "ESERVFAIL", "EFORMERR", "ENOTIMP", "EREFUSED"]);

export const isAnswer = (error: unknown) => ANSWERED.has(codeOf(error));

/** The system's DNS with its first search domain: in a pod, the domain of its namespace. */
export const systemDns = (): Dns => ({ searchDomain: firstSearchDomain() });

/** The host of a URL, without the brackets of IPv6. */
export const hostOf = (url: URL) => url.hostname.replace(/^\[|\]$/g, "");

/**
 * The first address of a name, of IPv4 if it has one. Each query has a new resolver, and thus a new port: firewalls
 * treat packets from an old port as an established flow.
 *
 * Uses c-ares, not getaddrinfo, which holds one of Node's four worker threads until the system's own timeouts. Under a
 * blackhole, a few queries would block them all.
 *
 * @throws Error of c-ares, also if the name does not exist
 */
export async function queryName(name: string, { servers, searchDomain }: Dns, timeoutMs: number): Promise<string> {
    const resolver = new Resolver({ timeout: timeoutMs / 2, tries: 2 });
    if (servers !== undefined) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), timeoutMs);
    try {
        const complete = completeName(name, searchDomain);
        const [first] = await resolver.resolve4(complete).catch((error: unknown) => {
            if (hasOthers(error)) return resolver.resolve6(complete);
            throw error;
        });
        return first!;
    } finally {
        clearTimeout(timer);
    }
}

/** Whether a URL's host exists, up or down: in a cluster, whether the Service does. Undefined if DNS does not say. */
export async function exists(url: URL, dns: Dns, timeoutMs: number): Promise<boolean | undefined> {
    const host = hostOf(url);
    if (isIP(host)) return true;
    try {
        await queryName(host, dns, timeoutMs);
        return true;
    } catch (error) {
        return hasOthers(error) ? true : codeOf(error) === "ENOTFOUND" ? false : undefined;
    }
}

/** Whether a name exists, with other addresses than those that were asked for. */
const hasOthers = (error: unknown) => codeOf(error) === "ENODATA";

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? "";

/**
 * c-ares ignores the system's search list. A completed name stays inside the cluster's zone, which the cluster's DNS
 * answers without outside servers.
 */
function completeName(name: string, searchDomain: string | undefined): string {
    return name.endsWith(".") || searchDomain === undefined ? name : `${name}.${searchDomain}`;
}

function firstSearchDomain(): string | undefined {
    try {
        return /^search\s+(\S+)/m.exec(readFileSync("/etc/resolv.conf", "utf8"))?.[1];
    } catch {
        // No such file, for example on macOS: names stay as they are.
        return undefined;
    }
}
