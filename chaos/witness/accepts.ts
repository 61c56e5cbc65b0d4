import { connect } from "node:net";
import { parseEndpoint } from "../values/endpoint";

const connectTimeoutMs = 1_000;
const rarelyMs = 2_000;

/** They grow, for targets that are slow to answer. After them, 1.6 s in all, an endpoint counts as closed. */
const earlyTimeoutsMs = [200, 200, 400, 800];

/** Whether a fresh connection is accepted. @param early set before the attacks: the try may be a short one */
export const accepts = (endpoint: string, early?: EarlyConnections): Promise<boolean> =>
    early ? early.accepts(endpoint) : connects(endpoint);

function connects(endpoint: string, timeoutMs = connectTimeoutMs): Promise<boolean> {
    return new Promise((resolve) => {
        const socket = connect({ ...parseEndpoint(endpoint), timeout: timeoutMs });
        const settle = (accepted: boolean) => {
            socket.destroy();
            resolve(accepted);
        };
        socket
            .once("connect", () => settle(true))
            .once("error", () => settle(false))
            .once("timeout", () => settle(false));
    });
}

/**
 * The first tries of each endpoint before the attacks, which are short: saves 0.8 s of each run in a namespace with
 * NetworkPolicies. A policy that lets this pod through is made at the same time, and may take effect just after the
 * first packet; the kernel sends a dropped packet again only after a second.
 */
export class EarlyConnections {
    /** All of them once an endpoint has accepted a connection: then only a whole try shows that it is closed. */
    private readonly shortTries = new Map<string, number>();

    async accepts(endpoint: string): Promise<boolean> {
        const tries = this.shortTries.get(endpoint) ?? 0;
        const accepted = await connects(endpoint, earlyTimeoutsMs[tries]);
        this.shortTries.set(endpoint, accepted ? earlyTimeoutsMs.length : tries + 1);
        return accepted;
    }

    /** Whether its next try is a short one. */
    isEarly(endpoint: string): boolean {
        return (this.shortTries.get(endpoint) ?? 0) < earlyTimeoutsMs.length;
    }

    /** Whether no more tries are short. False without endpoints: a run labels its targets after this process begins. */
    areOver(endpoints: readonly string[]): boolean {
        return endpoints.length > 0 && !endpoints.some((one) => this.isEarly(one));
    }
}

/**
 * Tries each endpoint every 2 s at most, except early, and says in between what was found last: a server that is
 * blocked takes no connections out of its queue, and many of them would fill it.
 */
export class RareConnections {
    private readonly last = new Map<string, { at: number; accepted: boolean }>();

    async accepts(endpoint: string, early?: EarlyConnections): Promise<boolean> {
        const last = this.last.get(endpoint);
        const at = performance.now();
        if (last && at - last.at < rarelyMs && !early?.isEarly(endpoint)) return last.accepted;
        const accepted = await accepts(endpoint, early);
        this.last.set(endpoint, { at, accepted });
        return accepted;
    }
}
