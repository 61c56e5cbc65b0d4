import { Server, ServerCredentials, ServerInterceptingCall } from "@grpc/grpc-js";
import { HealthImplementation } from "grpc-health-check";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { kubeconfigFrom } from "../../../../../chaos/cluster/kubeconfig";
import { Endpoints } from "../../../../../chaos/kinds/checks/endpoints";
import { grpc, type GrpcCheck } from "../../../../../chaos/kinds/checks/grpc";
import { checkName } from "../../../../../chaos/kinds/checks/registry";
import { isMarked } from "../../../../../chaos/values/trace-mark";
import { makeCertificate } from "../../../../support/certificate";
import { kubeconfigOf } from "../../../../support/kubeconfig";
import { FakeCluster } from "../../support/fake-cluster";
import { addService, base64, closedPort, contextOf, ok, serve, serveHttp2, unseen } from "./support";

const longName = `shop.${"x".repeat(195)}`;
/** A server by the library of gRPC's own project. */
const server = new Server({
    interceptors: [
        (_, call) =>
            new ServerInterceptingCall(call, {
                start: (next) =>
                    next({
                        onReceiveMetadata: (metadata, go) => {
                            asked.push({ ...metadata.getMap(), peer: call.getPeer() });
                            go(metadata);
                        },
                    }),
            }),
    ],
});
const health = new HealthImplementation({ "": "SERVING", "shop.Orders": "NOT_SERVING", [longName]: "SERVING" });
const asked: Record<string, unknown>[] = [];
let port: number;
let bare: number;
const started: Server[] = [];

async function start(some: Server): Promise<number> {
    started.push(some);
    return new Promise((resolve, reject) =>
        some.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
            error ? reject(error) : resolve(bound),
        ),
    );
}

const folder = mkdtempSync(join(tmpdir(), "chaos-shop-grpc-"));
beforeAll(async () => {
    health.addToServer(server);
    health.setStatus("shop.Unknown", "UNKNOWN");
    port = await start(server);
    bare = await start(new Server());
});
afterAll(() => {
    for (const one of started) one.forceShutdown();
    rmSync(folder, { recursive: true });
});

let cluster: FakeCluster;
beforeEach(() => {
    asked.length = 0;
    cluster = new FakeCluster();
    cluster.add("Namespace", "demo");
});

const check = (fields: Partial<GrpcCheck>): GrpcCheck => ({ kind: "grpc", ...fields });
const look = (fields: Partial<GrpcCheck>, timeoutMs = 2_000) =>
    grpc.probe(check(fields), contextOf(cluster), timeoutMs);
const lookAt = (at: number, fields: Partial<GrpcCheck> = {}, timeoutMs?: number) =>
    look({ url: `http://127.0.0.1:${at}`, ...fields }, timeoutMs);

describe("only SERVING is good, and what else a server says is named", () => {
    it.each<[string, Partial<GrpcCheck>, object]>([
        ["of the whole server", {}, { good: true, status: 200 }],
        ["of a service with a long name", { healthService: longName }, { good: true, status: 200 }],
        ["that does not serve", { healthService: "shop.Orders" }, { good: false, status: 200, problem: "NOT_SERVING" }],
        ["that is not known yet", { healthService: "shop.Unknown" }, { good: false, problem: "UNKNOWN" }],
        [
            "of a service that it does not know",
            { healthService: "shop.Gone" },
            {
                good: false,
                problem:
                    "gRPC status NOT_FOUND (5), the server does not know the health of a service shop.Gone: " +
                    "“Health status unknown for service shop.Gone”",
            },
        ],
    ])("health %s", async (_, fields, answer) => expect(await lookAt(port, fields)).toMatchObject(answer));

    it("a server without the protocol", async () =>
        expect(await lookAt(bare)).toMatchObject({
            good: false,
            problem: expect.stringMatching(
                /^gRPC status UNIMPLEMENTED \(12\), the server has no grpc\.health\.v1\.Health: “.+”$/,
            ) as unknown,
        }));
});

/** What a server sends as the message of its answer. */
const message = (...bytes: number[]) => Buffer.from([0, 0, 0, 0, bytes.length, ...bytes]);
const grpcHead = { ":status": 200, "content-type": "application/grpc" };
const answering = (body: Buffer, trailers: object = { "grpc-status": "0" }) =>
    serveHttp2((stream) => {
        stream.respond(grpcHead, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ ...trailers }));
        stream.end(body);
    });

describe("an answer is bad, and says why,", () => {
    it.each([
        ["a service that is unknown to a server that says so by a status", message(8, 3), "SERVICE_UNKNOWN"],
        ["without a status: that is 0", message(), "UNKNOWN"],
        ["a status that nobody knows", message(8, 0x85, 1), "the unknown status 133"],
        ["another message", message(10, 1, 65), "gRPC status OK, but the answer is not that of a health check"],
        ["no message", Buffer.alloc(0), "gRPC status OK, but the answer is not that of a health check"],
    ])("%s", async (_, body, problem) =>
        expect(await lookAt(await answering(body))).toMatchObject({ good: false, status: 200, problem }),
    );

    it.each([
        ["after", [8, 2, 0x10, 5]],
        ["before", [0x10, 0x85, 1, 8, 2]],
        ["of 8 bytes", [0x19, 8, 1, 8, 1, 8, 1, 8, 1, 8, 2]],
        ["of 4 bytes", [8, 2, 0x25, 8, 1, 8, 1]],
        ["of text", [0x2a, 3, 8, 1, 0, 8, 2]],
        ["with a number of two bytes", [0x82, 1, 2, 8, 1, 8, 2]],
        ["which is there twice", [8, 1, 8, 2]],
    ])("a status with another field %s", async (_, bytes) =>
        expect(await lookAt(await answering(message(...bytes)))).toMatchObject({ good: false, problem: "NOT_SERVING" }),
    );

    it.each([
        [[8]],
        [[8, 0x81]],
        [[8, 1, 0x2a, 9, 0]],
        [[8, 1, 0x19, 0]],
        [[8, 1, 0x13]],
        [[0x2a, ...Array.from({ length: 9 }, () => 0xff), 1]],
    ])("a message that ends too early: %j", async (bytes) =>
        expect((await lookAt(await answering(message(...bytes)))).problem).toBe(
            "gRPC status OK, but the answer is not that of a health check",
        ),
    );

    it.each([
        [{ "grpc-status": "14", "grpc-message": "try%20later" }, "gRPC status UNAVAILABLE (14): “try later”"],
        [{ "grpc-status": "14", "grpc-message": "100%" }, "gRPC status UNAVAILABLE (14): “100%”"],
        [{ "grpc-status": "99" }, "gRPC status 99"],
        [{}, "status 200, but the answer ended without a gRPC status"],
    ])("the trailers %j", async (trailers, problem) =>
        expect(await lookAt(await answering(message(8, 1), trailers))).toMatchObject({ good: false, problem }),
    );

    it("another service over HTTP/2", async () => {
        const other = await serveHttp2((stream) => {
            stream.respond({ ":status": 404, "content-type": "text/html" });
            stream.end("<html>");
        });
        const problem = "status 404, and the answer is not gRPC: its content type is text/html";
        expect(await lookAt(other)).toMatchObject({ good: false, status: 404, problem });
    });

    it("a server that speaks only HTTP/1.1", async () =>
        expect((await lookAt(await serve(ok))).problem).toMatch(
            /^what answers at http:\/\/127\.0\.0\.1:\d+ does not speak HTTP\/2 in clear text, which gRPC needs: /,
        ));

    it("a refused connection", async () =>
        expect(await lookAt(await closedPort())).toMatchObject({
            good: false,
            problem: expect.stringMatching(/ECONNREFUSED/) as unknown,
        }));

    it("a connection that is closed without an answer", async () => {
        const closing = createServer((socket) => socket.end()).listen(0, "127.0.0.1");
        onTestFinished(() => void closing.close());
        await once(closing, "listening");
        const answer = await lookAt((closing.address() as AddressInfo).port);
        expect(answer).toMatchObject({ good: false, problem: "the connection was closed without an answer" });
    });

    it("a server that accepts connections and is silent", async () => {
        const silent = createServer(() => undefined).listen(0, "127.0.0.1");
        onTestFinished(() => void silent.close());
        await once(silent, "listening");
        const answer = await lookAt((silent.address() as AddressInfo).port, {}, 200);
        expect(answer).toMatchObject({ good: false, problem: "no answer within 200 ms" });
        expect(answer).not.toHaveProperty("status");
    });

    it("an answer without an end", async () => {
        const endless = await serveHttp2((stream) => {
            stream.respond(grpcHead);
            stream.write(message(8, 1));
        });
        const problem = "status 200, but the body did not end within 200 ms";
        expect(await lookAt(endless, {}, 200)).toMatchObject({ good: false, status: 200, problem });
    });

    it("a stream that the server resets", async () => {
        const resetting = await serveHttp2((stream) => stream.on("error", () => undefined).close(7));
        const problem = "Stream closed with error code NGHTTP2_REFUSED_STREAM";
        expect(await lookAt(resetting)).toMatchObject({ good: false, problem });
    });

    it("SERVING that comes too late", async () => {
        const late = await serveHttp2((stream) => {
            setTimeout(() => {
                stream.respond(grpcHead, { waitForTrailers: true });
                stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
                stream.end(message(8, 1));
            }, 60);
        });
        expect((await lookAt(late, { maxLatencyMs: 20 })).problem).toMatch(
            /^SERVING after \d+ ms.* \(required: at most 20 ms\)$/,
        );
    });
});

describe("a request", () => {
    it("has a fresh connection, a time limit and a trace of its own, which a bad answer names", async () => {
        const context = { ...contextOf(cluster), traceKey: "key" };
        const bad = check({ url: `http://127.0.0.1:${port}`, healthService: "shop.Orders" });
        const answers = [await grpc.probe(bad, context, 1_500), await grpc.probe(bad, context, 1_500)];
        expect(new Set(asked.map(({ peer }) => peer)).size).toBe(2);
        expect(asked[0]).toMatchObject({ "user-agent": "chaos-experiments" });
        for (const [index, { traceparent }] of asked.entries()) {
            expect(isMarked([["traceparent", traceparent as string]], "key")).toBe(true);
            expect(traceparent).toContain(answers[index]!.traceId);
        }
    });

    it("has metadata, also from Secrets, which no message shows", async () => {
        cluster.add("Secret", "keys", { data: { key: base64("s3cret") } });
        const telling = await serveHttp2((stream, headers) => {
            const told = `${headers.authorization as string} and ${headers["x-shop"] as string}`;
            stream.respond({ ...grpcHead, "grpc-status": "16", "grpc-message": told }, { endStream: true });
        });
        const answer = await lookAt(telling, {
            headers: { "X-Shop": "demo" },
            headersFrom: { authorization: { secret: "keys", key: "key", prefix: "Bearer " } },
        });
        expect(answer.problem).toBe("gRPC status UNAUTHENTICATED (16): “[secret] and demo”");
    });

    it("may have another name of the client", async () => {
        await lookAt(port, { headers: { "User-Agent": "tests" } });
        expect(asked).toMatchObject([{ "user-agent": "tests" }]);
    });

    it("goes over TLS to a server whose certificate the CA has signed", async () => {
        const { keyFile, certificateFile } = makeCertificate(folder, "DNS:shop.example");
        const tls = { key: readFileSync(keyFile, "utf8"), cert: readFileSync(certificateFile, "utf8") };
        const secured = await serveHttp2((stream) => {
            stream.respond(grpcHead, { waitForTrailers: true });
            stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
            stream.end(message(8, 1));
        }, tls);
        const url = `https://127.0.0.1:${secured}`;
        expect(await look({ url, ca: tls.cert, serverName: "shop.example" })).toMatchObject({ good: true });
        expect((await look({ url })).problem).toMatch(/^the certificate of https:\S+ is not valid: /);
        const clear = await serve(ok, tls);
        expect((await look({ url: `https://127.0.0.1:${clear}`, ca: tls.cert, serverName: "shop.example" })).good).toBe(
            false,
        );
    });
});

describe("a Service is asked", () => {
    const ofService = (fields: Partial<GrpcCheck> = {}) => look({ service: "orders", ...fields });

    it("at the first of its external addresses that answers gRPC", async () => {
        addService(cluster, "orders", [{ port }], "127.0.0.1");
        const loadBalancer = { ingress: [{ ip: "127.0.0.9" }, { ip: "127.0.0.1" }] };
        cluster.get("Service", "orders").status = { loadBalancer };
        expect(await ofService()).toMatchObject({ good: true });
        const endpoints = new Endpoints(cluster.api, "demo");
        await endpoints.of(check({ service: "orders" }), grpc.usual);
        expect(endpoints.routes).toEqual({
            "grpc+http://demo/orders": { kind: "address", url: `http://127.0.0.1:${port}` },
        });
    });

    it("not through the API server, which is said with what to do instead", async () => {
        addService(cluster, "orders", [{ port }]);
        expect(await ofService()).toMatchObject(
            unseen(
                "no external address of Service demo/orders is known, and the API server's proxy does not carry " +
                    "gRPC. Give it one (type LoadBalancer, or NodePort if the account may list nodes), run the " +
                    "update in a pod of this cluster, or set `url`",
            ),
        );
    });

    it("by a pod of the cluster at its address there", async () => {
        const spec = {
            selector: { app: "orders" },
            clusterIP: "127.0.0.1",
            clusterIPs: ["127.0.0.1"],
            ports: [{ port }],
        };
        cluster.add("Service", "orders", { spec });
        cluster.api.kubeconfig = kubeconfigFrom(kubeconfigOf("inClusterContext", "https://10.0.0.1"));
        expect(await ofService()).toMatchObject({ good: true });
        cluster.add("Service", "headless", { spec: { ...spec, clusterIP: "None", clusterIPs: ["None"] } });
        expect((await ofService({ service: "headless" })).problem).toBe(
            `no address of Service demo/headless answers gRPC: http://headless.demo.svc:${port}`,
        );
    });

    it("which does not answer: that is bad, and it is looked for again", async () => {
        const closed = await closedPort();
        addService(cluster, "orders", [{ port: closed }], "127.0.0.1");
        const context = contextOf(cluster);
        const probe = () => grpc.probe(check({ service: "orders" }), context, 2_000);
        const problem = `no address of Service demo/orders answers gRPC: http://127.0.0.1:${closed}`;
        const answer = await probe();
        expect(answer).toMatchObject({ good: false, problem });
        expect(answer).not.toHaveProperty("unseen");
        cluster.get("Service", "orders").spec = { selector: {}, ports: [{ port }] };
        expect(await probe()).toMatchObject({ good: true });
    });
});

describe("a definition", () => {
    const mistakesOf = (fields: object) =>
        grpc.schema
            .safeParse({ kind: "grpc", ...fields })
            .error?.issues.map(({ path, message }) => [path.join("."), message]);

    it.each<[object, [string, string]]>([
        [{}, ["service", "is missing; allowed: the name of a Service, or `url` instead"]],
        [{ service: "a", url: "http://a" }, ["service", "excludes `url`; allowed: one of them"]],
        [{ service: "a", headers: { TE: "trailers" } }, ["headers.TE", "is no metadata of gRPC; leave it out"]],
        [
            { service: "a", headersFrom: { "grpc-timeout": { secret: "a", key: "b" } } },
            ["headersFrom.grpc-timeout", "is no metadata of gRPC; leave it out"],
        ],
        [{ service: "a", headers: null }, ["headers", expect.stringContaining("null") as string]],
        [{ service: "a", headersFrom: null }, ["headersFrom", expect.stringContaining("null") as string]],
        [
            { service: "a", headers: { "content-length": "3" } },
            ["headers.content-length", "is no metadata of gRPC; leave it out"],
        ],
        [
            { service: "a", headers: { "X-Shop": "1", "x-shop": "2" } },
            ["headers.x-shop", "is X-Shop already: names of headers have no case; leave one of them out"],
        ],
        [
            { service: "a", headers: { "x-shop": "\u4e2d" } },
            ["headers.x-shop", "not a header value; allowed: text in ISO 8859-1 (Latin-1) without control characters"],
        ],
        [
            { service: "a", healthService: "/shop.Orders/Get" },
            ["healthService", "not the name of a gRPC service; allowed: such as shop.Orders"],
        ],
        [
            { service: "a", healthService: "shop orders" },
            ["healthService", "not the name of a gRPC service; allowed: such as shop.Orders"],
        ],
    ])("is refused: %j", (fields, mistake) => expect(mistakesOf(fields)).toEqual([mistake]));

    it("has no path and no query", () => {
        expect(mistakesOf({ service: "a", path: "/", queryFrom: {} })).toHaveLength(1);
        expect(mistakesOf({ service: "a", port: 9090, healthService: "shop.Orders" })).toBeUndefined();
    });

    it("is named by what it asks", () => {
        expect(checkName(check({ service: "orders" }))).toBe("gRPC health of orders");
        expect(checkName(check({ url: "http://orders:9090", healthService: "shop.Orders" }))).toBe(
            "gRPC health of shop.Orders of http://orders:9090",
        );
    });
});
