import { isIP } from "node:net";
import { READINESS_TIMEOUT_MS } from "../shared/health";
import { checkPort } from "../shared/watch";
import { type Dns, hostOf, isAnswer, queryName } from "./names";

/**
 * The gateway's readiness check: throws when it can reach nothing at all.
 *
 * A gateway whose backends or database are down stays ready, because it still has something to say: its problem
 * document. Unready it must be only when it is itself cut off, which the kubelet cannot see: the NetworkPolicy
 * specification exempts traffic between a pod and its node. So each check opens something fresh outwards: a DNS query
 * of each backend's name; and a TCP connection to the address that each backend last had, for when DNS is what is down.
 * Any one of them will do. That a name does not exist is an answer too.
 *
 * It cannot see isolation where DNS is served by the pod's own node (NodeLocal DNSCache), for the same exemption.
 *
 * @param urls where the backends are
 */
export function createReachability(urls: URL[], dns: Dns): () => Promise<void> {
    // What DNS said last: a Service keeps its address for as long as it lives.
    const addresses = new Map<string, string>();
    const targets = urls.map((url) => ({ host: hostOf(url), port: Number(url.port || 80) }));
    const names = targets.map(({ host }) => host).filter((host) => !isIP(host));
    const addressOf = (host: string) => (isIP(host) ? host : addresses.get(host));

    const askDns = async (name: string) => {
        try {
            addresses.set(name, await queryName(name, dns, READINESS_TIMEOUT_MS));
        } catch (error) {
            if (!isAnswer(error)) throw error;
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
