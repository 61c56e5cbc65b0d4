import {
    AckPolicy,
    jetstream,
    type JetStreamClient,
    type JsMsg,
    jetstreamManager,
    RetentionPolicy,
} from "@nats-io/jetstream";
import { connect, headers as messageHeaders, nanos, type NatsConnection } from "@nats-io/transport-node";
import { setTimeout as sleep } from "node:timers/promises";
import type * as z from "zod/mini";
import type { brokerVariables, ValuesOf } from "./environment";
import { type Log, reasonOf } from "./log";
import { openScope, type Scope } from "./scope";
import { checkPort, watch } from "./watch";

/** What travels through the broker: from orders to the inventory, and back. */
export type Subject = "orders.accepted" | "orders.decided";

const STREAM = {
    name: "orders",
    subjects: ["orders.accepted", "orders.decided"] satisfies Subject[],
    // A message is gone once it was dealt with.
    retention: RetentionPolicy.Workqueue,
    // A message that is lost or left out is sent again by whoever needs it: nothing rests on the broker's disk alone.
    max_bytes: 128 * 1024 * 1024,
    duplicate_window: nanos(60_000),
};
const CONNECT_TIMEOUT_MS = 2_000;
const PUBLISH_TIMEOUT_MS = 2_000;
const PAUSE_MS = 250;
/** After this a message that nobody said was dealt with is given out again, in milliseconds. */
const ACK_WAIT_MS = 5_000;
/** How many messages a program is handed ahead: few enough to be dealt with well within that time. */
const AHEAD = 20;

export interface BrokerArgs {
    host: string;
    port: number;
    user: string;
    password: string;
    /** The program's name, under which the broker remembers what it was given. */
    program: string;
    log: Log;
    /** What the program does while it is connected; each ends, or throws, when the connection is lost. */
    work: ((link: BrokerLink) => Promise<void>)[];
}

/** The broker that a program was told of. @param program its name */
export function brokerOf(
    environment: ValuesOf<ReturnType<typeof brokerVariables>>,
    program: string,
): Pick<BrokerArgs, "host" | "port" | "user" | "password" | "program"> {
    const { BROKER_HOST: host, BROKER_PORT: port, BROKER_USER: user, BROKER_PASSWORD: password } = environment;
    return { host, port, user, password, program };
}

/** A connection to the broker, for as long as it lasts. */
export interface BrokerLink {
    readonly lost: AbortSignal;
    /**
     * Puts a message into the stream. One with the same id within a minute is put there once.
     *
     * @throws Error when the broker did not say within 2 s that it has the message, which then may be there all the same
     */
    publish(subject: Subject, id: string, message: object, headers: Scope["headers"]): Promise<void>;
    /**
     * Hands each message of a subject over, one after the other. A message counts as dealt with when `handle` is done;
     * where it throws, or the program ends, the message comes again.
     */
    consume<Schema extends z.ZodMiniType>(
        subject: Subject,
        schema: Schema,
        handle: (message: z.infer<Schema>, scope: Scope) => Promise<void>,
    ): Promise<void>;
}

export interface Broker {
    /** Whether the broker could be reached over a fresh connection when that was last tried, within the last second. */
    reachable(): boolean;
    close(): Promise<void>;
}

/**
 * Keeps a program at work with the broker: connects, again and again where need be, makes stream and consumers where
 * they are not there (a broker that lost its data has none), and ends the connection once no fresh one can be opened.
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
            // It may end before anybody waits for it.
            ended.catch(() => undefined);
            const link = await openLink(connection, lost.signal, args);
            args.log.info("connected to the broker");
            await Promise.race([ended, connection.closed(), ...args.work.map((work) => work(link))]);
        } finally {
            end = undefined;
            lost.abort();
            // What it holds back for a broker that may be gone is not waited for.
            void connection.close().catch(() => undefined);
        }
    };
    const run = async () => {
        let told = false;
        while (!closing) {
            try {
                await connected();
                told = false;
            } catch (error) {
                if (!told && !closing) args.log.warn({ cause: reasonOf(error) }, "no connection to the broker");
                told = true;
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

async function openLink(
    connection: NatsConnection,
    lost: AbortSignal,
    { program, log }: BrokerArgs,
): Promise<BrokerLink> {
    const manager = await jetstreamManager(connection, { timeout: CONNECT_TIMEOUT_MS });
    await manager.streams.add(STREAM);
    const client: JetStreamClient = jetstream(connection, { timeout: PUBLISH_TIMEOUT_MS });
    return {
        lost,
        async publish(subject, id, message, headers) {
            const told = messageHeaders();
            for (const [name, value] of Object.entries(headers)) told.set(name, value);
            await client.publish(subject, JSON.stringify(message), { msgID: id, headers: told });
        },
        async consume(subject, schema, handle) {
            await manager.consumers.add(STREAM.name, {
                durable_name: program,
                filter_subject: subject,
                ack_policy: AckPolicy.Explicit,
                ack_wait: nanos(ACK_WAIT_MS),
            });
            const consumer = await client.consumers.get(STREAM.name, program);
            const messages = await consumer.consume({ max_messages: AHEAD });
            for await (const message of messages) {
                if (lost.aborted) return;
                await deal(message, schema, handle, log);
            }
        },
    };
}

async function deal<Schema extends z.ZodMiniType>(
    message: JsMsg,
    schema: Schema,
    handle: (message: z.infer<Schema>, scope: Scope) => Promise<void>,
    log: Log,
): Promise<void> {
    const read = readMessage(message, schema);
    if (read === undefined) {
        log.error({ subject: message.subject }, "a message that is not understood is left out");
        message.term();
        return;
    }
    const scope = openScope((name) => headerOf(message, name), log);
    try {
        await handle(read, scope);
        message.ack();
    } catch (error) {
        scope.log.warn({ cause: reasonOf(error) }, "a message is put back");
        message.nak(1_000);
        // Whatever is out of order, the next messages would fare no better at once.
        await sleep(PAUSE_MS);
    }
}

function readMessage<Schema extends z.ZodMiniType>(message: JsMsg, schema: Schema): z.infer<Schema> | undefined {
    try {
        return schema.parse(message.json());
    } catch {
        return undefined;
    }
}

/** A message's header by its name in lower case; the broker's headers keep the case they were set with. */
function headerOf({ headers }: JsMsg, name: string): string | undefined {
    const key = headers?.keys().find((candidate) => candidate.toLowerCase() === name);
    return key === undefined ? undefined : headers!.get(key);
}
