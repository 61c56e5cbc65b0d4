import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { createServer } from "node:http";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import zlib from "node:zlib";
import { condition } from "../../../../../chaos/kinds/checks/condition";
import { http, type HttpCheck } from "../../../../../chaos/kinds/checks/http";
import { prometheus } from "../../../../../chaos/kinds/checks/prometheus";
import { httpPod, startProxy } from "../attacks/fault/proxy/support";
import { FakeCluster } from "../../support/fake-cluster";
import { addService, contextOf, type Handler, serve, statusObject, useApiServer, unseen } from "./support";

let cluster: FakeCluster;
beforeEach(() => {
    cluster = new FakeCluster();
});

const timeoutMs = 1_000;
const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
const upgrade = { Connection: "Upgrade", Upgrade: "websocket" };
const probe = (check: Partial<HttpCheck>, ms = timeoutMs) =>
    http.probe({ kind: "http", path: "/", ...check }, contextOf(cluster), ms);

/** Each way to a Service that answers so. @returns what of a check names it */
const ways = {
    "by address": async (port: number) => ({ url: `http://127.0.0.1:${port}` }),
    "through the API server": async (port: number) => {
        addService(cluster, "stream", [{ port: 80 }]);
        useApiServer(cluster, port);
        return { service: "stream" };
    },
};
type Way = (typeof ways)[keyof typeof ways];

/** A server that takes upgrades, and answers other requests with a handler. @returns its port */
async function upgrading(handler: Handler = (_, response) => response.end()): Promise<number> {
    const server = createServer(handler);
    server.on("upgrade", (_: IncomingMessage, socket) => socket.on("error", () => undefined).write(switching));
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => {
        server.close();
        server.closeAllConnections();
    });
    return (server.address() as AddressInfo).port;
}

/** Begins an answer, and never ends it. */
const endless =
    (status: number, text = "data: 1\n\n"): Handler =>
    (_, response: ServerResponse) =>
        void response.writeHead(status, { "content-type": "text/event-stream" }).write(text);

describe.each(Object.entries(ways))("an answer that never ends, %s,", (_, way) => {
    it("is good by its head if only a status is required", async () => {
        const of = await way(await serve(endless(200)));
        const answer = await probe(of);
        expect(answer).toMatchObject({ good: true, status: 200 });
        expect(answer.latencyMs).toBeLessThan(timeoutMs / 2);
    });

    it("is a good upgrade if status 101 is required, and else a bad one", async () => {
        const of = await way(await upgrading());
        expect(await probe({ ...of, headers: upgrade, status: 101 })).toMatchObject({ good: true, status: 101 });
        expect(await probe({ ...of, headers: upgrade })).toMatchObject({ status: 101, problem: "status 101: “”" });
    });

    it("is bad if the status is another one, with what has come of its body", async () => {
        const of = await way(await serve(endless(503, "out of order")));
        const answer = await probe(of);
        expect(answer).toMatchObject({ good: false, status: 503, problem: "status 503: “out of order”" });
        expect(answer).not.toHaveProperty("unseen");
    });

    it("is bad if its JSON must have something, and says that the body did not end", async () => {
        const of = await way(await serve(endless(200)));
        const answer = await probe({ ...of, json: [{ path: "a" }] });
        expect(answer.problem).toBe("status 200, but the body did not end within 1000 ms");
        expect(answer).not.toHaveProperty("status");
    });

    it("says nothing of an application if it is Prometheus'", async () => {
        const of = await way(await serve(endless(200)));
        const check = { kind: "prometheus", query: "up", atLeast: 1, port: 80, ...of } as const;
        const { port: __, ...byUrl } = check;
        const asked = "url" in of ? byUrl : check;
        expect(await prometheus.probe(asked, contextOf(cluster), timeoutMs)).toMatchObject(
            unseen("Prometheus cannot be asked: status 200, but the body did not end within 1000 ms"),
        );
    });

    it("is taken for too long after 16 MiB", async () => {
        const flood: Handler = (_, response) => {
            const more = () => void (response.destroyed || response.write(Buffer.alloc(1_048_576, "a"), more));
            more();
        };
        const of = await way(await serve(flood));
        expect((await probe({ ...of, json: [{ path: "a" }] }, 4_000)).problem).toBe(
            "status 200, but the body is longer than 16 MiB",
        );
        expect(await probe(of)).toMatchObject({ good: true });
    });

    it("is bad if its body breaks off, and had to end", async () => {
        const breaking: Handler = (_, response) =>
            void response.writeHead(200, { "content-length": 9 }).write("{", () => response.destroy());
        const of = await way(await serve(breaking));
        expect((await probe({ ...of, json: [{ path: "a" }] })).problem).toBe(
            "status 200, but the body broke off: aborted",
        );
    });
});

it("the API server's own answer is told from the Service's by its body, also with the required status", async () => {
    const of = await ways["through the API server"](
        await serve((_, response) => response.writeHead(403).end(statusObject(403, "no"))),
    );
    expect(await probe({ ...of, status: 403 })).toMatchObject({ good: false, unseen: true });
});

it("a connection that closes without an answer is a failure at once", async () => {
    const port = await serve((request) => request.socket.end());
    expect((await probe({ url: `http://127.0.0.1:${port}` })).problem).not.toMatch(/no answer within/);
});

it("a Service whose root never ends answers at its address", async () => {
    const port = await serve(endless(200));
    addService(cluster, "stream", [{ port }], "127.0.0.1");
    expect(await probe({ service: "stream", path: "/events" })).toMatchObject({ good: true });
});

it("the connection of a check is closed after an answer that goes on", async () => {
    let closed: Promise<unknown> | undefined;
    const port = await serve((request, response) => {
        closed = once(request.socket, "close");
        endless(200)(request, response);
    });
    await probe({ url: `http://127.0.0.1:${port}` });
    await closed;
});

describe("through a fault's proxy", () => {
    it.each([
        ["passed on if nothing is faulted", { percentage: 0 }, true],
        ["told apart from the fault's 503", { abort: 503 }, false],
    ])("endless answers are %s", async (_, fault, isGood) => {
        const pod = await httpPod(endless(200), (server) =>
            server.on("upgrade", (__, socket) => socket.write(switching)),
        );
        const { url } = await startProxy(pod, { fault });
        const socket = await probe({ url, headers: upgrade, status: 101 });
        const events = await probe({ url });
        expect([socket, events].map(({ good, status }) => ({ good, status }))).toEqual(
            [101, 200].map((status) => ({ good: isGood, status: isGood ? status : 503 })),
        );
    });
});

describe("a body with a content coding", () => {
    const answering =
        (coding: string, body: Buffer, status = 200): Handler =>
        (_, response) =>
            response.writeHead(status, { "content-encoding": coding }).end(body);

    const decoded = async (way: Way, handler: Handler, fields: Partial<HttpCheck> = {}) =>
        probe({ json: [{ path: "a", equals: 1 }], ...fields, ...(await way(await serve(handler))) }, 5_000);

    const text = Buffer.from('{"a":1}');
    const { zstdCompressSync } = zlib as typeof zlib & { zstdCompressSync?: (data: Buffer) => Buffer };
    const codings: [string, Buffer][] = [
        ["gzip", zlib.gzipSync(text)],
        ["X-GZIP", zlib.gzipSync(text)],
        ["deflate", zlib.deflateSync(text)],
        ["deflate", zlib.deflateRawSync(text)],
        ["br", zlib.brotliCompressSync(text)],
        ["deflate, br", zlib.brotliCompressSync(zlib.deflateSync(text))],
        ["identity", text],
        ...(zstdCompressSync ? [["zstd", zstdCompressSync(text)] as [string, Buffer]] : []),
    ];

    describe.each(Object.entries(ways))("an answer with a content coding, %s,", (_, way) => {
        it.each(codings)("is decoded: %s", async (coding, body) => {
            expect(await decoded(way, answering(coding, body))).toMatchObject({ good: true });
            expect(await decoded(way, answering(coding, body, 503))).toMatchObject({
                problem: 'status 503: “{"a":1}”',
            });
        });

        it("may be empty", async () =>
            expect((await decoded(way, answering("gzip", Buffer.alloc(0)))).problem).toBe(
                "status 200, but the body is not JSON",
            ));

        it("is not read if that is unknown, and the reason names it", async () => {
            const coded = answering("compress", text);
            expect((await decoded(way, coded)).problem).toBe(
                "status 200, but the body has the content coding “compress”, which is not decoded",
            );
            expect((await decoded(way, answering("compress", text, 503))).problem).toBe(
                "status 503, and the body has the content coding “compress”, which is not decoded",
            );
            expect(await decoded(way, coded, { json: undefined })).toMatchObject({ good: true });
        });

        it("is told if it is not what it says", async () =>
            expect((await decoded(way, answering("gzip", text))).problem).toBe(
                "status 200, but the body cannot be decoded as gzip: incorrect header check",
            ));

        it("has a limit after it was decoded", async () => {
            const bomb = zlib.gzipSync(Buffer.alloc(64 * 1_048_576, " "));
            const twice = answering("gzip, gzip", zlib.gzipSync(bomb));
            for (const handler of [answering("gzip", bomb), twice])
                expect((await decoded(way, handler)).problem).toBe("status 200, but the body is longer than 16 MiB");
            expect((await decoded(way, answering("gzip", bomb, 503))).problem).toBe("status 503: “”");
        });

        it("is Prometheus', too", async () => {
            const value = JSON.stringify({ status: "success", data: { resultType: "scalar", result: [1, "1"] } });
            const asked = await way(await serve(answering("br", zlib.brotliCompressSync(value))));
            const port = "service" in asked ? { port: 80 } : {};
            const check = { kind: "prometheus", query: "up", equals: 1, ...port, ...asked } as const;
            expect(await prometheus.probe(check, contextOf(cluster), 5_000)).toMatchObject({ good: true });
        });
    });

    it("the API server's own answers are decoded, too", async () => {
        const refusal = zlib.gzipSync(statusObject(403, "no"));
        expect(await decoded(ways["through the API server"], answering("gzip", refusal, 403))).toMatchObject({
            unseen: true,
        });

        const list = { resources: [{ name: "nodes", kind: "Node", namespaced: false }], spec: { a: 1 } };
        useApiServer(cluster, await serve(answering("gzip", zlib.gzipSync(JSON.stringify(list)))));
        const of = { apiVersion: "v1", kind: "Node", name: "a" };
        const check = { kind: "condition", of, field: "spec.a", equals: 1 } as const;
        expect(await condition.probe(check, contextOf(cluster), 5_000)).toMatchObject({ good: true });
    });
});
