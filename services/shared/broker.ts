import { connect, type NatsConnection } from "@nats-io/transport-node";
import { setTimeout as sleep } from "node:timers/promises";
import { type BrokerLink, CONNECT_TIMEOUT_MS, openLink, PAUSE_MS } from "./broker-link";
import type { brokerVariables, ValuesOf } from "./environment";
import { type Log, reasonOf } from "./log";
import { checkPort, watch } from "./watch";

export interface BrokerArgs {
    host: string;
    port: number;
    user: string;
    password: string;
    /** The program's name, and the name of its durable consumer. */
    program: string;
    log: Log;
    /** Runs while the program is connected; returns or throws when the connection is lost. */
    work: ((link: BrokerLink) => Promise<void>)[];
}

/** The broker's address and account, from a program's environment. */
export function brokerOf(environment: ValuesOf<ReturnType<typeof brokerVariables>>, program: string) {
    const { BROKER_HOST: host, BROKER_PORT: port, BROKER_USER: user, BROKER_PASSWORD: password } = environment;
    return { host, port, user, password, program };
}

export interface Broker {
    /** Whether the last fresh connection to the broker succeeded. One is tried each second. */
    reachable(): boolean;
    close(): Promise<void>;
}

/**
 * Keeps a program connected to the broker: reconnects after a loss, creates the stream and its consumers if they are
 * missing (a broker that lost its data has none), and closes the connection when no fresh one can be opened.
 */
export function openBroker(args: BrokerArgs): Broker {
    let closing = false;
    let connection: NatsConnection | undefined;
    let end: ((reason: Error) => void) | undefined;
    const watched = watch(
        () => checkPort(args.host, args.port),
        () => end?.(new Error("no fresh connection can be opened")),
    );

    const connected = async () => {
        connection = await connect({
            servers: `${args.host}:${args.port}`,
            user: args.user,
            pass: args.password,
            name: args.program,
            timeout: CONNECT_TIMEOUT_MS,
            reconnect: false,
        });
        const lost = new AbortController();
        try {
            const ended = new Promise<never>((_, reject) => (end = reject));
            // May reject before the race below awaits it.
            ended.catch(() => undefined);
            const link = await openLink(connection, lost.signal, args);
            args.log.info("connected to the broker");
            await Promise.race([ended, connection.closed(), ...args.work.map((work) => work(link))]);
        } finally {
            end = undefined;
            lost.abort();
            // Does not wait for unsent data: the broker may be gone.
            void connection.close().catch(() => undefined);
        }
    };
    const run = async () => {
        let warned = false;
        while (!closing) {
            try {
                await connected();
                warned = false;
            } catch (error) {
                if (!warned && !closing) args.log.warn({ cause: reasonOf(error) }, "no connection to the broker");
                warned = true;
            }
            if (!closing) await sleep(PAUSE_MS);
        }
    };
    void run();
    return {
        reachable: watched.reachable,
        close: async () => {
            closing = true;
            watched.stop();
            await connection?.close();
        },
    };
}
