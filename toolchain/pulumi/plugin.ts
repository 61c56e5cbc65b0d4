import type { ChildProcess } from "node:child_process";
import { setMaxListeners } from "node:events";
import { fstatSync } from "node:fs";
import * as grpc from "@grpc/grpc-js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";

/** The engine's own limit. gRPC's default of 4 MB is too small for some properties. */
const MAX_MESSAGE_BYTES = 400 * 1024 * 1024;

/** How long a plugin's processes may take to end; the engine kills the plugin after 5 s. */
const STOP_GRACE_MILLISECONDS = 4_000;

const lastArgument = process.argv.slice(2).at(-1);

/**
 * The engine's address: the last argument, after flags such as `-v=9 --logtostderr`. Undefined if the plugin was
 * started by hand; the engine then sends its address in a handshake.
 */
export const engineAddress = lastArgument?.startsWith("-") ? undefined : lastArgument;

/** Makes a gRPC handler of a function. The user sees the message of an error that it throws. */
export function unary<Request, Response>(
    answer: (request: Request, call: grpc.ServerUnaryCall<Request, Response>) => Response | Promise<Response>,
): grpc.handleUnaryCall<Request, Response> {
    return (call, callback) => {
        Promise.resolve()
            .then(() => answer(call.request, call))
            .then(
                (response) => callback(null, response),
                (error: Error) => callback(error, null),
            );
    };
}

/** Makes a gRPC handler of a function that writes any number of responses. @param work gets a signal of its end */
export function streamed<Request>(
    work: (
        request: Request,
        call: grpc.ServerWritableStream<Request, unknown>,
        callEnded: AbortSignal,
    ) => Promise<void>,
): grpc.handleServerStreamingCall<Request, unknown> {
    return (call) => {
        const callEnded = new AbortController();
        call.on("cancelled", () => callEnded.abort());
        work(call.request, call, callEnded.signal).then(
            () => call.end(),
            (error: Error) => call.emit("error", error),
        );
    };
}

/** What a plugin runs for the engine. It ends when the engine cancels, interrupts the plugin or is gone. */
export class Running {
    readonly #ending = new AbortController();
    readonly #running = new Set<Promise<unknown>>();
    readonly ended = this.#ending.signal;
    /** Handles the method Cancel of both kinds of plugin. */
    readonly cancel = unary(() => {
        this.#ending.abort();
        return new Empty();
    });

    constructor() {
        // Any number of processes may run at once, each with a listener.
        setMaxListeners(0, this.ended);
    }

    add<Result>(work: Promise<Result>): Promise<Result> {
        this.#running.add(work);
        return work.finally(() => this.#running.delete(work));
    }

    async end(): Promise<void> {
        this.#ending.abort();
        await Promise.allSettled(this.#running);
    }
}

/**
 * Waits for the end of a process. A cancellation ends it: by a signal, on which it can clean up, and by SIGKILL after
 * the grace period.
 */
export async function untilEnded<End>(
    child: ChildProcess,
    end: Promise<End>,
    cancelled: AbortSignal,
    signal: NodeJS.Signals,
    send: (signal: NodeJS.Signals) => void = (each) => child.kill(each),
): Promise<End> {
    const cancel = () => {
        send(signal);
        const kill = setTimeout(() => send("SIGKILL"), STOP_GRACE_MILLISECONDS);
        child.once("close", () => clearTimeout(kill));
    };
    cancelled.addEventListener("abort", cancel, { once: true });
    return end.finally(() => cancelled.removeEventListener("abort", cancel));
}

/**
 * Serves a Pulumi plugin: listens on a free loopback port, prints the port for the engine, and runs until the engine
 * interrupts it or is gone.
 */
export function servePlugin(
    service: grpc.ServiceDefinition,
    handlers: grpc.UntypedServiceImplementation,
    running: Running,
): void {
    const server = new grpc.Server({
        "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
        "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
    });
    server.addService(service, { ...handlers, cancel: running.cancel });
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
        if (error) throw new Error(`cannot listen on a loopback port: ${error.message}`);
        process.stdout.write(`${port}\n`);
    });
    void endOfEngine().then(() => {
        // A process that has left its group may not end; this one must end all the same.
        setTimeout(() => process.exit(1), STOP_GRACE_MILLISECONDS + 500);
        void running.end().finally(() => process.exit(0));
    });
}

function endOfEngine(): Promise<void> {
    return new Promise((resolve) => {
        const ended = () => resolve();
        for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, ended);
        // Writing to an engine that is gone must not end this process before its children.
        process.stdout.on("error", ended);
        process.stderr.on("error", ended);
        // The engine holds the other end of standard input and never writes to it. It closes even if the engine is
        // killed.
        const input = fstatSync(0);
        if (input.isFIFO() || input.isSocket())
            process.stdin.on("end", ended).on("close", ended).on("error", ended).resume();
    });
}
