import {
    AckPolicy,
    jetstream,
    type JetStreamClient,
    type JsMsg,
    jetstreamManager,
    RetentionPolicy,
} from "@nats-io/jetstream";
import { headers as messageHeaders, nanos, type NatsConnection } from "@nats-io/transport-node";
import { setTimeout as sleep } from "node:timers/promises";
import type * as z from "zod/mini";
import { type Log, reasonOf } from "./log";
import { openScope, type Scope } from "./scope";

/** Messages from orders to the inventory, and back. */
export type Subject = "orders.accepted" | "orders.decided";

const STREAM = {
    name: "orders",
    subjects: ["orders.accepted", "orders.decided"] satisfies Subject[],
    // A message is deleted once it is acknowledged.
    retention: RetentionPolicy.Workqueue,
    // Senders repeat lost and dropped messages: no order depends on the broker's disk.
    max_bytes: 128 * 1024 * 1024,
    duplicate_window: nanos(60_000),
};
export const CONNECT_TIMEOUT_MS = 2_000;
const PUBLISH_TIMEOUT_MS = 2_000;
/** Pause after a failure, in milliseconds. */
export const PAUSE_MS = 250;
/** A message without acknowledgment is redelivered after this time, in milliseconds. */
const ACK_WAIT_MS = 5_000;
/** Messages fetched ahead: few enough to be handled well within that time. */
const AHEAD = 20;

/** One connection to the broker. */
export interface BrokerLink {
    readonly lost: AbortSignal;
    /**
     * Publishes a message. The broker drops a second one with the same id within a minute.
     *
     * @throws Error without acknowledgment from the broker within 2 s; it may have the message all the same
     */
    publish: (subject: Subject, id: string, message: object, headers: Scope["headers"]) => Promise<void>;
    /**
     * Handles the messages of a subject one by one. A message is acknowledged when `handle` resolves. If it rejects, or
     * the program ends first, the broker redelivers the message.
     */
    consume: <Schema extends z.ZodMiniType>(
        subject: Subject,
        schema: Schema,
        handle: (message: z.infer<Schema>, scope: Scope) => Promise<void>,
    ) => Promise<void>;
}

/** Creates the stream if it is missing. @param program the name of the durable consumer */
export async function openLink(
    connection: NatsConnection,
    lost: AbortSignal,
    { program, log }: { program: string; log: Log },
): Promise<BrokerLink> {
    const manager = await jetstreamManager(connection, { timeout: CONNECT_TIMEOUT_MS });
    await manager.streams.add(STREAM);
    const client: JetStreamClient = jetstream(connection, { timeout: PUBLISH_TIMEOUT_MS });
    return {
        lost,
        async publish(subject, id, message, headers) {
            const sent = messageHeaders();
            for (const [name, value] of Object.entries(headers)) sent.set(name, value);
            await client.publish(subject, JSON.stringify(message), { msgID: id, headers: sent });
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
                await handleMessage(message, schema, handle, log);
            }
        },
    };
}

async function handleMessage<Schema extends z.ZodMiniType>(
    message: JsMsg,
    schema: Schema,
    handle: (message: z.infer<Schema>, scope: Scope) => Promise<void>,
    log: Log,
): Promise<void> {
    const read = readMessage(message, schema);
    if (read === undefined) {
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

function readMessage<Schema extends z.ZodMiniType>(message: JsMsg, schema: Schema): z.infer<Schema> | undefined {
    try {
        return schema.parse(message.json());
    } catch {
        return undefined;
    }
}

/** Reads a header by its lower-case name; NATS keeps the case that the sender used. */
function headerOf({ headers }: JsMsg, name: string): string | undefined {
    const key = headers?.keys().find((candidate) => candidate.toLowerCase() === name);
    return key === undefined ? undefined : headers!.get(key);
}
