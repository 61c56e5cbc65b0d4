import { fstatSync } from "node:fs";
import * as grpc from "@grpc/grpc-js";

/** As large as the engine's own limit: a checkpoint's properties may exceed gRPC's default of 4 MB. */
export const MAX_MESSAGE_BYTES = 400 * 1024 * 1024;

/** What a plugin runs has this long to end after it was asked to; the engine kills the plugin itself after 5 s. */
export const STOP_GRACE_MILLISECONDS = 4_000;

/** What answers one unary call: the response, or an error that becomes the call's status. */
export type Unary<Request, Response> = (
    request: Request,
    call: grpc.ServerUnaryCall<Request, Response>,
) => Response | Promise<Response>;

/** Turns a function that returns or throws into a gRPC handler; an error's message reaches the user as it is. */
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

/** Fills every method that a service has and `handlers` lacks with an answer of UNIMPLEMENTED that says so. */
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
    return { ...handlers, ...Object.fromEntries(refusals) } as grpc.UntypedServiceImplementation;
}

/**
 * The engine's address, which it gives a plugin as the last argument, behind flags such as `-v=9 --logtostderr`.
 *
 * @returns undefined when the plugin was started by hand; the engine then says its address in a handshake.
 */
export function engineAddressFrom(args: readonly string[]): string | undefined {
    const last = args.at(-1);
    return last === undefined || last.startsWith("-") ? undefined : last;
}

/**
 * Serves a Pulumi plugin: listens on a free loopback port, prints the port as the engine expects, and runs until the
 * engine interrupts it or is gone.
 *
 * @param stop ends what the plugin runs; the process exits when it is done.
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
        // Something may have left its process group and hold on; what is left behind must not be this process too.
        setTimeout(() => process.exit(1), STOP_GRACE_MILLISECONDS + 500);
        void stop().finally(() => process.exit(0));
    });
}

/** Calls back once, when the engine asks for the end or has died, however that came. */
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
    // Writing to an engine that has gone must not end this process before it has ended its children.
    process.stdout.on("error", once);
    process.stderr.on("error", once);
    // The engine holds the other end of standard input and never writes; it closes even if the engine is killed.
    const input = fstatSync(0);
    if (input.isFIFO() || input.isSocket()) {
        process.stdin.on("end", once).on("close", once).on("error", once).resume();
    }
}

function statusOf(error: unknown): Partial<grpc.StatusObject> {
    if (error instanceof Error) {
        const { code, metadata } = error as Partial<grpc.ServiceError>;
        return { code: typeof code === "number" ? code : grpc.status.UNKNOWN, details: error.message, metadata };
    }
    return { code: grpc.status.UNKNOWN, details: String(error) };
}
