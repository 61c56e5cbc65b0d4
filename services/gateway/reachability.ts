import { isIP } from "node:net";
import { READINESS_TIMEOUT_MS } from "../shared/health";
import { within } from "../shared/time";
import { checkPort } from "../shared/watch";
import { type Dns, hostOf, isAnswer, queryName } from "./names";

/** How long the first backend may take before the others are tried as well, in milliseconds. */
const FIRST_TRY_MS = 100;

/**
 * The gateway's readiness check: rejects when the gateway can reach nothing.
 *
 * A gateway stays ready while backends or the database are down, because it can still serve its problem document. It
 * must be unready only when it is cut off itself. The kubelet cannot see that: the NetworkPolicy specification exempts
 * traffic between a pod and its node. So each check makes fresh outbound contact: a DNS query for a backend's name, or,
 * in case DNS is down, a TCP connection to a backend's last known address. One success is enough, and so is the answer
 * that a name does not exist. To save work, backends take turns, and the others are tried only if the first is slow.
 *
 * The check cannot see an isolation if the pod's own node serves DNS (NodeLocal DNSCache), for the same exemption.
 *
 * @param urls the backends' addresses
 */
export function createReachability(urls: URL[], dns: Dns): () => Promise<void> {
    // The last known addresses: a Service keeps its address.
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
        const answered = await within(FIRST_TRY_MS, first).then(
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
