import { AckPolicy, jetstream, type JsMsg, jetstreamManager, RetentionPolicy } from "@nats-io/jetstream";
import { connect, headers as messageHeaders, nanos, type NatsConnection } from "@nats-io/transport-node";
import { setTimeout as sleep } from "node:timers/promises";
import type * as z from "zod/mini";
import type { brokerVariables, ValuesOf } from "./environment";
import type { Measure } from "./calls";
import { type Log, reasonOf } from "./log";
import { openScope, type Scope } from "./scope";
import { checkPort, watch } from "./watch";

/** Messages from orders to the inventory, and back. Each order has a subject below these. */
type Subject = "orders.accepted" | "orders.decided";

const STREAM = {
    name: "orders",
    subjects: ["orders.accepted.*", "orders.decided.*"] satisfies `${Subject}.*`[],
    // A repeated message replaces the first: while nobody reads, the broker holds one for each order.
    max_msgs_per_subject: 1,
    // A message is deleted once it is acknowledged.
    retention: RetentionPolicy.Workqueue,
    // Senders repeat lost and dropped messages: no order depends on the broker's disk.
    max_bytes: 128 * 1024 * 1024,
    duplicate_window: nanos(60_000),
};
/** The broker's, in the metric of calls. */
const workload = "message-broker";
const CONNECT_TIMEOUT_MS = 2_000;
const PUBLISH_TIMEOUT_MS = 2_000;
/** Pause after a failure, in milliseconds. */
const PAUSE_MS = 250;
/** A message without acknowledgment is redelivered after this time, in milliseconds. */
const ACK_WAIT_MS = 5_000;
/** Messages fetched ahead: few enough to be handled well within that time. */
const AHEAD = 20;

type Handle<Message> = (message: Message, scope: Scope) => Promise<void>;

export interface BrokerLink {
    readonly lost: AbortSignal;
    /**
     * Publishes a message about an order. Within a minute, the broker drops a second one; later, it keeps the last one.
     *
     * @throws Error without acknowledgment from the broker within 2 s; it may have the message all the same
     */
    publish: (subject: Subject, orderId: string, message: object, headers: Scope["headers"]) => Promise<void>;
    /**
     * Handles the messages of a subject one by one. A message is acknowledged when `handle` resolves. If it rejects, or
     * the program ends first, the broker redelivers the message.
     */
    consume: <Message>(subject: Subject, schema: z.ZodMiniType<Message>, handle: Handle<Message>) => Promise<void>;
}

export interface BrokerArgs {
    environment: ValuesOf<ReturnType<typeof brokerVariables>>;
    /** The program's name, with which that of its durable consumer begins. */
    program: string;
    log: Log;
    /** Counts each message that is sent, and each fresh connection. */
    measure: Measure;
    /** Runs while the program is connected; returns or throws when the connection is lost. */
    work: ((link: BrokerLink) => Promise<void>)[];
}

/**
 * Keeps a program connected to the broker: reconnects after a loss, creates the stream and its consumers if they are
 * missing (a broker that lost its data has none), and closes the connection when no fresh one can be opened.
 */
export function openBroker({ environment, program, log, measure, work }: BrokerArgs) {
    const { BROKER_HOST: host, BROKER_PORT: port, BROKER_USER: user, BROKER_PASSWORD: pass } = environment;
    let closing = false;
    let connection: NatsConnection | undefined;
    let end: ((reason: Error) => void) | undefined;
    const watched = watch(
        () => measure(workload, () => checkPort(host, port)),
        () => end?.(new Error("no fresh connection can be opened")),
    );

    const connected = async () => {
        connection = await connect({
            servers: `${host}:${port}`,
            user,
            pass,
            name: program,
            timeout: CONNECT_TIMEOUT_MS,
            reconnect: false,
        });
        const lost = new AbortController();
        try {
            const ended = new Promise<never>((_, reject) => (end = reject));
            // May reject before the race below awaits it.
            ended.catch(() => undefined);
            const link = await openLink(connection, lost.signal, { program, log, measure });
            log.info("connected to the broker");
            await Promise.race([ended, connection.closed(), ...work.map((each) => each(link))]);
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
                if (!warned && !closing) log.warn({ cause: reasonOf(error) }, "no connection to the broker");
                warned = true;
            }
            if (!closing) await sleep(PAUSE_MS);
        }
    };
    void run();
    return {
        /** Whether the last fresh connection to the broker succeeded. One is tried each second. */
        reachable: watched.reachable,
        /**
         * How many messages wait in the broker: orders for the inventory, and its decisions.
         *
         * @throws Error if the broker is not connected, or does not answer within 2 s
         */
        waiting: async () => {
            if (connection === undefined) throw new Error("not connected to the broker");
            const manager = await jetstreamManager(connection, { timeout: CONNECT_TIMEOUT_MS });
            return (await manager.streams.info(STREAM.name)).state.messages;
        },
        close: async () => {
            closing = true;
            watched.stop();
            await connection?.close();
        },
    };
}

/** Creates the stream, or updates that of an earlier version. `program` begins the name of the durable consumer. */
async function openLink(
    connection: NatsConnection,
    lost: AbortSignal,
    { program, log, measure }: Pick<BrokerArgs, "program" | "log" | "measure">,
): Promise<BrokerLink> {
    const manager = await jetstreamManager(connection, { timeout: CONNECT_TIMEOUT_MS });
    await manager.streams.add(STREAM).catch(() => manager.streams.update(STREAM.name, STREAM));
    const client = jetstream(connection, { timeout: PUBLISH_TIMEOUT_MS });
    return {
        lost,
        async publish(subject, orderId, message, headers) {
            const ofOrder = `${subject}.${orderId}`;
            const sent = messageHeaders();
            for (const [name, value] of Object.entries(headers)) sent.set(name, value);
            const options = { msgID: ofOrder, headers: sent };
            await measure(workload, () => client.publish(ofOrder, JSON.stringify(message), options));
        },
        async consume(subject, schema, handle) {
            // Another name than that of earlier versions' consumers: NATS 2.9 does not heed a filter that changes.
            const durable = `${program}-by-order`;
            await manager.consumers.add(STREAM.name, {
                durable_name: durable,
                filter_subject: `${subject}.*`,
                ack_policy: AckPolicy.Explicit,
                ack_wait: nanos(ACK_WAIT_MS),
            });
            const consumer = await client.consumers.get(STREAM.name, durable);
            const messages = await consumer.consume({ max_messages: AHEAD });
            for await (const message of messages) {
                if (lost.aborted) return;
                await handleMessage(message, schema, handle, log);
            }
        },
    };
}

async function handleMessage<Message>(
    message: JsMsg,
    schema: z.ZodMiniType<Message>,
    handle: Handle<Message>,
    log: Log,
): Promise<void> {
    let read: Message;
    try {
        read = schema.parse(message.json());
    } catch {
        log.error({ subject: message.subject }, "dropped a message that does not match its schema");
        message.term();
        return;
    }
    const scope = openScope((name) => headerOf(message, name), log);
    try {
        await handle(read, scope);
        message.ack();
    } catch (error) {
        scope.log.warn({ cause: reasonOf(error) }, "could not handle a message; it will be redelivered");
        message.nak(1_000);
        // The next message would likely fail the same way if it were handled at once.
        await sleep(PAUSE_MS);
    }
}

/** Reads a header by its lower-case name; NATS keeps the case that the sender used. */
function headerOf({ headers }: JsMsg, name: string): string | undefined {
    const key = headers?.keys().find((candidate) => candidate.toLowerCase() === name);
    return key === undefined ? undefined : headers!.get(key);
}
