import { Resolver } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { READINESS_TIMEOUT_MS } from "../shared/health";
import { checkPort } from "../shared/watch";

/** The codes with which c-ares says that a DNS server answered, though not with an address. */
const ANSWERED = new Set(["ENOTFOUND", "ENODATA", "ESERVFAIL", "EFORMERR", "ENOTIMP", "EREFUSED"]);

interface Dns {
    /** Completes names that do not end in a dot. */
    searchDomain?: string | undefined;
    /** Addresses of the servers asked, with a port if it is not 53. @default those of the system */
    servers?: string[];
}

/**
 * The gateway's readiness check: throws when it can reach nothing at all.
 *
 * A gateway whose backends or database are down stays ready, because it still has something to say: its problem
 * document. Unready it must be only when it is itself cut off, which the kubelet cannot see: the NetworkPolicy
 * specification exempts traffic between a pod and its node. So each check opens something fresh outwards: a DNS query
 * of each backend's name, from a new resolver and with it from a new port, since a firewall treats an old one's
 * packets as an established flow; and a TCP connection to the address that each backend last had, for when DNS is what
 * is down. Any one of them will do. That a name does not exist is an answer too.
 *
 * It cannot see isolation where DNS is served by the pod's own node (NodeLocal DNSCache), for the same exemption.
 *
 * The queries go through c-ares, not getaddrinfo: the latter occupies one of node's four worker threads until the
 * system's own time-outs end, and a few probes under a blackhole would take them all from the requests.
 *
 * @param urls where the backends are
 * @param dns the system's, unless told
 */
export function createReachability(urls: URL[], dns: Dns = { searchDomain: firstSearchDomain() }): () => Promise<void> {
    // What DNS said last: a Service keeps its address for as long as it lives.
    const addresses = new Map<string, string>();
    const targets = urls.map((url) => ({ host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || 80) }));
    const names = targets.map(({ host }) => host).filter((host) => !isIP(host));
    const addressOf = (host: string) => (isIP(host) ? host : addresses.get(host));

    const askDns = async (name: string) => {
        const address = await queryName(name, dns);
        if (address !== undefined) {
            addresses.set(name, address);
        }
    };
    return async () => {
        const attempts: Promise<void>[] = names.map(askDns);
        for (const { host, port } of targets) {
            const address = addressOf(host);
            if (address !== undefined) {
                attempts.push(checkPort(address, port));
            }
        }
        try {
            await Promise.any(attempts);
        } catch (cause) {
            throw new Error("Neither DNS nor any backend can be reached.", { cause });
        }
    };
}

/** The first address of a name, or undefined if a DNS server answered without one; throws if none answered. */
async function queryName(name: string, dns: Dns): Promise<string | undefined> {
    const resolver = new Resolver({ timeout: READINESS_TIMEOUT_MS / 2, tries: 2 });
    if (dns.servers !== undefined) {
        resolver.setServers(dns.servers);
    }
    const timer = setTimeout(() => resolver.cancel(), READINESS_TIMEOUT_MS);
    try {
        return (await resolver.resolve4(completeName(name, dns.searchDomain)))[0];
    } catch (error) {
        if (ANSWERED.has((error as NodeJS.ErrnoException).code ?? "")) {
            return undefined;
        }
        throw error;
    } finally {
        clearTimeout(timer);
    }
}

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
