/**
 * The pods of a test of gRPC, as ROLE says: a `server`, with TLS if there is a KEY, or a `caller` that calls it ten
 * times a second by new connections, and by one that it keeps, and prints what came of each call.
 */
import * as grpc from "@grpc/grpc-js";
import { createServer } from "node:net";
import { orders, OrdersClient } from "./grpc";

export interface Called {
    method: "get" | "list";
    /** Whether the connection was kept. */
    kept: boolean;
    requestId: string;
    /** When it began, in milliseconds since the epoch. */
    at: number;
    ms: number;
    code: number;
    details: string;
}

const { ROLE, SERVER = "api:9000", KEY, CERTIFICATE } = process.env;

function serve(): void {
    const server = new grpc.Server();
    server.addService(orders, {
        get: (call: grpc.ServerUnaryCall<string, string>, answer: grpc.sendUnaryData<string>) =>
            answer(null, `order ${call.request}`),
        list(call: grpc.ServerWritableStream<string, string>) {
            for (let at = 0; at < 10; at++) call.write("x".repeat(200));
            call.end();
        },
    });
    const credentials =
        KEY && CERTIFICATE
            ? grpc.ServerCredentials.createSsl(null, [
                  { private_key: Buffer.from(KEY), cert_chain: Buffer.from(CERTIFICATE) },
              ])
            : grpc.ServerCredentials.createInsecure();
    server.bindAsync("0.0.0.0:9000", credentials, (error) => {
        if (error) throw error;
    });
}

function call(client: InstanceType<typeof OrdersClient>, about: Pick<Called, "method" | "kept" | "requestId">) {
    const at = Date.now();
    const metadata = new grpc.Metadata();
    metadata.set("x-request-id", about.requestId);
    const options = { deadline: at + 2_000 };
    return new Promise<void>((resolve) => {
        const note = ({ code, details }: grpc.StatusObject) => {
            console.log(JSON.stringify({ ...about, at, ms: Date.now() - at, code, details } satisfies Called));
            resolve();
        };
        const method = client[about.method] as (...args: unknown[]) => grpc.ClientReadableStream<string>;
        if (about.method === "get") method.call(client, "1", metadata, options, () => {}).on("status", note);
        else
            method
                .call(client, "1", metadata, options)
                .on("status", note)
                .on("error", () => {})
                .resume();
    });
}

function callAgainAndAgain(): void {
    const open = () =>
        new OrdersClient(SERVER, grpc.credentials.createInsecure(), {
            "grpc.use_local_subchannel_pool": 1,
            "grpc.enable_retries": 0,
        });
    // For the readiness probe.
    createServer().listen(8080);
    const kept = open();
    let round = 0;
    setInterval(() => {
        const requestId = round++ % 2 === 0 ? "mine" : "yours";
        void call(kept, { method: "get", kept: true, requestId });
        const fresh = open();
        const calls = (["get", "list"] as const).map((method) => call(fresh, { method, kept: false, requestId }));
        void Promise.all(calls).then(() => fresh.close());
    }, 100);
}

if (ROLE === "server") serve();
else if (ROLE === "caller") callAgainAndAgain();
