import { fstatSync } from "node:fs";
import * as grpc from "@grpc/grpc-js";

/** The engine's own limit. gRPC's default of 4 MB is too small for some properties. */
const MAX_MESSAGE_BYTES = 400 * 1024 * 1024;

/** How long a plugin's processes may take to end; the engine kills the plugin after 5 s. */
export const STOP_GRACE_MILLISECONDS = 4_000;

/** Answers a unary call with a response, or with an error that becomes the call's status. */
export type Unary<Request, Response> = (
    request: Request,
    call: grpc.ServerUnaryCall<Request, Response>,
) => Response | Promise<Response>;

/** Makes a gRPC handler of a function. The user sees the message of an error that it throws. */
export function unary<Request, Response>(answer: Unary<Request, Response>): grpc.handleUnaryCall<Request, Response> {
    return (call, callback) => {
        Promise.resolve()
            .then(() => answer(call.request, call))
            .then(
                (response) => callback(null, response),
                (error: unknown) => callback(statusOf(error), null),
            );
    };
}

/** Adds handlers that answer UNIMPLEMENTED for all methods that `handlers` lacks. */
export function complete(
    service: grpc.ServiceDefinition,
    handlers: grpc.UntypedServiceImplementation,
    explain: (method: string) => string,
): grpc.UntypedServiceImplementation {
    const missing = Object.entries(service).filter(([name]) => !(name in handlers));
    const refusals = missing.map(([name, method]) => {
        const status = { code: grpc.status.UNIMPLEMENTED, details: explain(method.path.split("/").pop() ?? name) };
        const refuse = (call: { emit(event: string, value: unknown): void }, callback?: (error: unknown) => void) =>
            callback ? callback(status) : call.emit("error", status);
        return [name, refuse] as const;
    });
    return { ...handlers, ...Object.fromEntries(refusals) };
}

/**
 * The engine's address: the last argument, after flags such as `-v=9 --logtostderr`.
 *
 * @returns undefined when the plugin was started by hand; the engine then sends its address in a handshake.
 */
export function engineAddressFrom(args: readonly string[]): string | undefined {
    const last = args.at(-1);
    return last === undefined || last.startsWith("-") ? undefined : last;
}

/**
 * Serves a Pulumi plugin: listens on a free loopback port, prints the port for the engine, and runs until the engine
 * interrupts it or is gone.
 *
 * @param stop ends the plugin's processes; then this process exits.
 */
export function servePlugin(
    service: grpc.ServiceDefinition,
    handlers: grpc.UntypedServiceImplementation,
    stop: () => Promise<void>,
): void {
    const server = new grpc.Server({
        "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
        "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
    });
    server.addService(service, handlers);
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
        if (error) {
            console.error(`cannot listen on a loopback port: ${error.message}`);
            process.exit(1);
        }
        process.stdout.write(`${port}\n`);
    });
    onEndOfEngine(() => {
        // A process that has left its group may not end; this one must end all the same.
        setTimeout(() => process.exit(1), STOP_GRACE_MILLISECONDS + 500);
        void stop().finally(() => process.exit(0));
    });
}

/** Calls back once, when the engine interrupts this process or is gone. */
function onEndOfEngine(callback: () => void): void {
    let told = false;
    const once = () => {
        if (!told) {
            told = true;
            callback();
        }
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
        process.on(signal, once);
    }
    // Writing to an engine that is gone must not end this process before its children.
    process.stdout.on("error", once);
    process.stderr.on("error", once);
    // The engine holds the other end of standard input and never writes to it. It closes even if the engine is killed.
    const input = fstatSync(0);
    if (input.isFIFO() || input.isSocket()) process.stdin.on("end", once).on("close", once).on("error", once).resume();
}

function statusOf(error: unknown): Partial<grpc.StatusObject> {
    if (error instanceof Error) {
        const { code, metadata } = error as Partial<grpc.ServiceError>;
        return { code: typeof code === "number" ? code : grpc.status.UNKNOWN, details: error.message, metadata };
    }
    return { code: grpc.status.UNKNOWN, details: String(error) };
}
