import { isIP } from "node:net";
import { READINESS_TIMEOUT_MS } from "../shared/health";
import { within } from "../shared/time";
import { checkPort } from "../shared/watch";
import { type Dns, hostOf, isAnswer, queryName } from "./names";

/** How long one backend's name or port is waited for before all the others are tried, too, in milliseconds. */
const PATIENCE_MS = 100;

/**
 * The gateway's readiness check: throws when it can reach nothing at all.
 *
 * A gateway whose backends or database are down stays ready, because it still has something to say: its problem
 * document. Unready it must be only when it is itself cut off, which the kubelet cannot see: the NetworkPolicy
 * specification exempts traffic between a pod and its node. So each check opens something fresh outwards: a DNS query
 * of each backend's name; and a TCP connection to the address that each backend last had, for when DNS is what is down.
 * Any one of them will do, so the backends' names take turns, and only where the one does not answer soon is all else tried:
 * each second, whatever the gateway opens is work for others. That a name does not exist is an answer too.
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
    const tryPort = ({ host, port }: { host: string; port: number }) => {
        const address = addressOf(host);
        return address === undefined ? [] : [checkPort(address, port)];
    };

    let turns = 0;
    return async () => {
        const inTurn = targets[turns++ % targets.length]!;
        const first = isIP(inTurn.host) ? checkPort(inTurn.host, inTurn.port) : askDns(inTurn.host);
        const answered = await within(PATIENCE_MS, first).then(
            () => true,
            () => false,
        );
        if (answered) return;
        const others = names.filter((name) => name !== inTurn.host);
        try {
            await Promise.any([first, ...others.map(askDns), ...targets.flatMap(tryPort)]);
        } catch (cause) {
            throw new Error("Neither DNS nor any backend can be reached.", { cause });
        }
    };
}
