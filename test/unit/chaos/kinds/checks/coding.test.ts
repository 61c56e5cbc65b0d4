import { beforeEach, describe, expect, it } from "vitest";
import zlib from "node:zlib";
import { condition } from "../../../../../chaos/kinds/checks/condition";
import { http, type HttpCheck } from "../../../../../chaos/kinds/checks/http";
import { prometheus } from "../../../../../chaos/kinds/checks/prometheus";
import { FakeCluster } from "../../support/fake-cluster";
import { addService, contextOf, type Handler, serve, statusObject, useApiServer } from "./support";

let cluster: FakeCluster;
beforeEach(() => {
    cluster = new FakeCluster();
});

const answering =
    (coding: string, body: Buffer, status = 200): Handler =>
    (_, response) =>
        response.writeHead(status, { "content-encoding": coding }).end(body);

const ways = {
    "by address": (port: number) => ({ url: `http://127.0.0.1:${port}` }),
    "through the API server": (port: number) => {
        addService(cluster, "catalog", [{ port: 80 }]);
        useApiServer(cluster, port);
        return { service: "catalog" };
    },
};
type Way = (typeof ways)[keyof typeof ways];

const probe = async (way: Way, handler: Handler, fields: Partial<HttpCheck> = {}) => {
    const check: HttpCheck = { kind: "http", path: "/", json: [{ path: "a", equals: 1 }], ...fields };
    return http.probe({ ...check, ...way(await serve(handler)) }, contextOf(cluster), 5_000);
};

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
        expect(await probe(way, answering(coding, body))).toMatchObject({ good: true });
        expect(await probe(way, answering(coding, body, 503))).toMatchObject({ problem: 'status 503: “{"a":1}”' });
    });

    it("may be empty", async () =>
        expect((await probe(way, answering("gzip", Buffer.alloc(0)))).problem).toBe(
            "status 200, but the body is not JSON",
        ));

    it("is not read if that is unknown, and the reason names it", async () => {
        const coded = answering("compress", text);
        expect((await probe(way, coded)).problem).toBe(
            "status 200, but the body has the content coding “compress”, which is not decoded",
        );
        expect((await probe(way, answering("compress", text, 503))).problem).toBe(
            "status 503, and the body has the content coding “compress”, which is not decoded",
        );
        expect(await probe(way, coded, { json: undefined })).toMatchObject({ good: true });
    });

    it("is told if it is not what it says", async () =>
        expect((await probe(way, answering("gzip", text))).problem).toBe(
            "status 200, but the body cannot be decoded as gzip: incorrect header check",
        ));

    it("has a limit after it was decoded", async () => {
        const bomb = zlib.gzipSync(Buffer.alloc(64 * 1_048_576, " "));
        const twice = answering("gzip, gzip", zlib.gzipSync(bomb));
        for (const handler of [answering("gzip", bomb), twice])
            expect((await probe(way, handler)).problem).toBe("status 200, but the body is longer than 16 MiB");
        expect((await probe(way, answering("gzip", bomb, 503))).problem).toBe("status 503: “”");
    });

    it("is Prometheus', too", async () => {
        const value = JSON.stringify({ status: "success", data: { resultType: "scalar", result: [1, "1"] } });
        const asked = way(await serve(answering("br", zlib.brotliCompressSync(value))));
        const port = "service" in asked ? { port: 80 } : {};
        const check = { kind: "prometheus", query: "up", equals: 1, ...port, ...asked } as const;
        expect(await prometheus.probe(check, contextOf(cluster), 5_000)).toMatchObject({ good: true });
    });
});

it("the API server's own answers are decoded, too", async () => {
    const refusal = zlib.gzipSync(statusObject(403, "no"));
    expect(await probe(ways["through the API server"], answering("gzip", refusal, 403))).toMatchObject({
        unseen: true,
    });

    const list = { resources: [{ name: "nodes", kind: "Node", namespaced: false }], spec: { a: 1 } };
    useApiServer(cluster, await serve(answering("gzip", zlib.gzipSync(JSON.stringify(list)))));
    const of = { apiVersion: "v1", kind: "Node", name: "a" };
    const check = { kind: "condition", of, field: "spec.a", equals: 1 } as const;
    expect(await condition.probe(check, contextOf(cluster), 5_000)).toMatchObject({ good: true });
});
