import { Resolver } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";

/** How names are looked up. */
export interface Dns {
    /** Completes names that do not end in a dot. */
    searchDomain?: string | undefined;
    /** Addresses of the servers asked, with a port if it is not 53. @default those of the system */
    servers?: string[];
}

/** The codes with which c-ares says that a DNS server answered, though not with an address. */
const ANSWERED = new Set(["ENOTFOUND", "ENODATA", "ESERVFAIL", "EFORMERR", "ENOTIMP", "EREFUSED"]);

export const isAnswer = (error: unknown) => ANSWERED.has(codeOf(error));

/** The system's DNS, asked in its own first search domain: in a pod that of the pod's namespace. */
export const systemDns = (): Dns => ({ searchDomain: firstSearchDomain() });

/** The host of an address as the network knows it: without the brackets of IPv6. */
export const hostOf = (url: URL) => url.hostname.replace(/^\[|\]$/g, "");

/**
 * The first address of a name, from a new resolver and with it from a new port, since a firewall treats an old one's
 * packets as an established flow.
 *
 * By c-ares, not getaddrinfo: the latter occupies one of node's four worker threads until the system's own time-outs
 * end, and a few of them under a blackhole would take them all from the requests.
 *
 * @throws Error of c-ares, also where there is no such name
 */
export async function queryName(name: string, { servers, searchDomain }: Dns, timeoutMs: number): Promise<string> {
    const resolver = new Resolver({ timeout: timeoutMs / 2, tries: 2 });
    if (servers !== undefined) {
        resolver.setServers(servers);
    }
    const timer = setTimeout(() => resolver.cancel(), timeoutMs);
    try {
        return (await resolver.resolve4(completeName(name, searchDomain)))[0]!;
    } finally {
        clearTimeout(timer);
    }
}

/** Whether there is a program at an address, up or down: in a cluster, whether it has a Service. Undefined where DNS does not say. */
export async function isThere(url: URL, dns: Dns, timeoutMs: number): Promise<boolean | undefined> {
    const host = hostOf(url);
    if (isIP(host)) return true;
    try {
        await queryName(host, dns, timeoutMs);
        return true;
    } catch (error) {
        // ENODATA: it has addresses of another family.
        return codeOf(error) === "ENODATA" ? true : codeOf(error) === "ENOTFOUND" ? false : undefined;
    }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? "";

/**
 * c-ares asks for a name as it is, without the system's search list. Completing each name that does not end in a dot
 * keeps the question inside the cluster's own zone, which its DNS answers without asking servers outside.
 */
function completeName(name: string, searchDomain: string | undefined): string {
    return name.endsWith(".") || searchDomain === undefined ? name : `${name}.${searchDomain}`;
}

function firstSearchDomain(): string | undefined {
    try {
        return /^search\s+(\S+)/m.exec(readFileSync("/etc/resolv.conf", "utf8"))?.[1];
    } catch {
        // No such file, for example on a developer's machine that is not Linux: names are asked for as they are.
        return undefined;
    }
}
