import fc from "fast-check";
import { once } from "node:events";
import {
    type ClientHttp2Session,
    type ClientHttp2Stream,
    connect,
    constants,
    createServer,
    type IncomingHttpHeaders,
    type OutgoingHttpHeaders,
    type ServerHttp2Stream,
    type ServerOptions,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { probeThrough } from "../../../../../../../chaos/kinds/attacks/fault/proxy/probe";
import { local, until } from "../../../../../../support/until";
import { Caller, httpPod, ofRun, type ProxyOptions, startProxy, target, tcpPod } from "./support";

type Serve = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: string[]) => void;

/** A pod that serves HTTP/2 in clear text. It ends with the test. */
async function http2Pod(serve: Serve, options: ServerOptions = {}) {
    const server = createServer(options);
    const sessions: { destroy(): void; close(): void }[] = [];
    server.on("session", (session) => sessions.push(session));
    server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _: number, raw: string[]) => {
        stream.on("error", () => {});
        serve(stream, headers, raw);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => {
        sessions.forEach((session) => session.destroy());
        server.close();
    });
    const close = () => {
        sessions.forEach((session) => session.close());
        server.close();
    };
    return { port: (server.address() as AddressInfo).port, sessions, close };
}

function sessionTo(url: string): ClientHttp2Session {
    const session = connect(url);
    session.on("error", () => {});
    onTestFinished(() => session.destroy());
    return session;
}

async function sessionThrough(serve: Serve, options: ProxyOptions & { pod?: ServerOptions } = {}) {
    const pod = await http2Pod(serve, options.pod);
    const proxy = await startProxy(pod.port, options);
    return { pod, proxy, session: sessionTo(proxy.url) };
}

interface Answer {
    headers?: IncomingHttpHeaders;
    raw?: string[];
    trailers?: IncomingHttpHeaders;
    body: string;
    /** Whether the body has ended in good order. */
    ended: boolean;
    code: number;
}

/** All that comes of a request. */
function answerTo(stream: ClientHttp2Stream): Promise<Answer> {
    const answer: Answer = { body: "", ended: false, code: 0 };
    stream
        .on("response", (headers, _, raw?: string[]) => Object.assign(answer, { headers, raw }))
        .on("trailers", (trailers) => (answer.trailers = trailers))
        .on("data", (chunk) => (answer.body += String(chunk)))
        .on("end", () => (answer.ended = stream.rstCode === 0))
        .on("error", () => {});
    return new Promise((resolve) => stream.on("close", () => resolve({ ...answer, code: stream.rstCode })));
}

const asked = (session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string) => {
    const stream = session.request(headers, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    return answerTo(stream);
};

/** A frame of HTTP/2, as text in latin1. */
function frame(type: number, flags: number, stream: number, payload: string): string {
    return String.fromCharCode(0, payload.length >> 8, payload.length & 255, type, flags, 0, 0, 0, stream) + payload;
}

/** Names and values in turns, without compression. */
const fields = (...texts: string[]): string =>
    texts.map((text, at) => (at % 2 ? "" : "\0") + String.fromCharCode(text.length) + text).join("");

describe("requests in HTTP/2 that are not hit pass as they are:", () => {
    it("every field of their heads, and of those of answers", async () => {
        let got: string[] = [];
        const { session, proxy } = await sessionThrough((stream, _, raw) => {
            got = raw;
            const fields = { ":status": 201, "set-cookie": ["a=1", "b=2"], "x-many": ["1", "2"] };
            stream.respond(fields, { endStream: true, sendDate: false } as object);
        });
        const authority = "orders.shop:80";
        const sent = { ":authority": authority, ":path": "/a?b", "x-two": ["1", "2, 3"], cookie: ["c=1", "d=2"] };
        const { raw } = await asked(session, sent);
        const pairs = [
            [":method", "GET"],
            [":authority", authority],
            [":scheme", "http"],
            [":path", "/a?b"],
            ["x-two", "1"],
            ["x-two", "2, 3"],
            ["cookie", "c=1"],
            ["cookie", "d=2"],
        ];
        expect(pairsOf(got).sort()).toEqual(pairs.sort());
        const answered = [
            [":status", "201"],
            ["set-cookie", "a=1"],
            ["set-cookie", "b=2"],
            ["x-many", "1"],
            ["x-many", "2"],
        ];
        expect(pairsOf(raw!).sort()).toEqual(answered.sort());
        expect(proxy.counts()).toMatchObject({ requests: 1, faulted: 1 });
    });

    it("trailers in both directions, and heads that only inform", async () => {
        let got: IncomingHttpHeaders | undefined;
        const { session } = await sessionThrough((stream) => {
            stream.additionalHeaders({ ":status": 103, link: "</style>" });
            stream.on("trailers", (trailers) => (got = trailers));
            stream.resume().on("end", () => {
                stream.respond({ ":status": 200 }, { waitForTrailers: true });
                stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "7" }));
                stream.end("body");
            });
        });
        const stream = session.request({ ":method": "POST" }, { waitForTrailers: true });
        let informed: IncomingHttpHeaders = {};
        stream.on("headers", (headers) => (informed = headers));
        stream.on("wantTrailers", () => stream.sendTrailers({ "x-length": "5" }));
        stream.end("hello");
        expect(await answerTo(stream)).toMatchObject({ body: "body", trailers: { "x-sum": "7" }, ended: true });
        expect([got, informed]).toMatchObject([{ "x-length": "5" }, { ":status": 103, link: "</style>" }]);
    });

    it.each(["head", "trailers"])("all but http2-settings, which Node.js sends to nobody, in %s", async (where) => {
        let got: string[] = [];
        const pod = await http2Pod((stream, _, raw) => {
            got = raw;
            stream.on("trailers", (_fields: IncomingHttpHeaders, _flags: number, raw: string[]) => got.push(...raw));
            stream.resume().on("end", () => {
                stream.respond();
                stream.end("served");
            });
        });
        const caller = await Caller.connect((await startProxy(pod.port)).port);
        const head = [":method", "POST", ":scheme", "http", ":path", "/", ":authority", "shop"];
        const more = ["http2-settings", "x", "x-one", "1"];
        const isHead = where === "head";
        caller.send("PRI * HTTP/2.0", "", "SM", "", frame(4, 0, 0, ""));
        caller.send(isHead ? frame(1, 5, 1, fields(...head, ...more)) : frame(1, 4, 1, fields(...head)));
        if (!isHead) caller.send(frame(1, 5, 1, fields(...more)));
        await caller.receives("served");
        expect(got).toContain("x-one");
        expect(got).not.toContain("http2-settings");
    });

    it("the same in a head that only informs", async () => {
        const pod = await tcpPod((socket) => {
            socket.write(frame(4, 0, 0, ""), "latin1");
            socket.on("data", (sent) => {
                if (!["\x01\x05\0\0\0\x01", "\x01\x25\0\0\0\x01"].some((head) => sent.includes(head))) return;
                const hints = fields(":status", "103", "http2-settings", "x", "link", "</style>");
                socket.write(frame(1, 4, 1, hints) + frame(1, 5, 1, fields(":status", "200")), "latin1");
            });
        });
        const stream = sessionTo((await startProxy(pod.port)).url).request({});
        let informed: IncomingHttpHeaders = {};
        stream.on("headers", (headers) => (informed = headers));
        expect(await answerTo(stream)).toMatchObject({ headers: { ":status": 200 }, ended: true });
        expect(Object.entries(informed)).toEqual([
            [":status", 103],
            ["link", "</style>"],
        ]);
    });

    it.each([
        ["HEAD", 200, { "content-length": "7" }],
        ["GET", 204, {}],
        ["GET", 304, { etag: "x" }],
        ["OPTIONS", 200, {}],
    ])("%s with status %d, without a body", async (method, status, fields) => {
        const { session } = await sessionThrough((stream) =>
            stream.respond({ ":status": status, ...fields }, { endStream: true }),
        );
        const answer = await asked(session, { ":method": method });
        expect(answer).toMatchObject({ headers: { ":status": status, ...fields }, body: "", code: 0 });
    });

    it("as a property: bodies, however they are cut, both ways and many at a time", async () => {
        const { session } = await sessionThrough((stream) => {
            stream.respond();
            stream.pipe(stream);
        });
        const chunks = fc.array(fc.integer({ min: 0, max: 200_000 }), { maxLength: 5 });
        await fc.assert(
            fc.asyncProperty(fc.array(chunks, { minLength: 1, maxLength: 8 }), async (bodies) => {
                const answers = bodies.map(async (sizes, at) => {
                    const stream = session.request({ ":method": "POST" });
                    const answer = answerTo(stream);
                    for (const [index, size] of sizes.entries()) stream.write(`${(at + index) % 10}`.repeat(size));
                    stream.end();
                    const { body, ended } = await answer;
                    const expected = sizes.map((size, index) => `${(at + index) % 10}`.repeat(size)).join("");
                    expect([ended, body === expected]).toEqual([true, true]);
                });
                await Promise.all(answers);
            }),
            { numRuns: 15 },
        );
    });

    it.each([
        ["before its head", () => {}],
        [
            "within its body",
            (stream: ServerHttp2Stream) => {
                // Without this, Node.js would end the stream before it resets it.
                stream.respond({}, { waitForTrailers: true });
                stream.write("half");
            },
        ],
    ])("a pod's reset %s, with its code: it never looks like an end", async (_, before) => {
        const { session } = await sessionThrough((stream) => {
            before(stream);
            setTimeout(() => stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM), 50);
        });
        const { ended, code } = await asked(session, {});
        expect([ended, code]).toEqual([false, constants.NGHTTP2_ENHANCE_YOUR_CALM]);
    });

    it("a caller's reset, with its code", async () => {
        const codes: number[] = [];
        const { session } = await sessionThrough((stream) => {
            stream.respond();
            stream.write("half");
            stream.on("close", () => codes.push(stream.rstCode));
        });
        const stream = session.request({ ":method": "POST" });
        stream.on("error", () => {});
        stream.once("data", () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
        await until("the pod saw it", () => codes.length === 1, local);
        expect(codes).toEqual([constants.NGHTTP2_INTERNAL_ERROR]);
    });

    it.each([
        ["that was sent whole", () => {}],
        ["within its body, which has come", (stream: ClientHttp2Stream) => stream.write("half")],
        ["within its body, which waits", (stream: ClientHttp2Stream) => stream.write("x".repeat(300_000))],
    ])("as a cancellation: a caller's reset with NO_ERROR of a request %s", async (_, write) => {
        const seen: unknown[] = [];
        const isWhole = write.length === 0;
        const { session, proxy } = await sessionThrough((stream, { ":path": path }) => {
            stream.respond();
            if (path === "/next") return stream.end();
            stream.write("half");
            stream.once("data", () => stream.pause()).on("end", () => !isWhole && seen.push("end"));
            stream.on("close", () => seen.push(stream.rstCode));
        });
        // With `waitForTrailers`, Node.js does not end the stream before it resets it.
        const stream = session.request({ ":method": "POST" }, { endStream: isWhole, waitForTrailers: !isWhole });
        stream.on("error", () => {});
        write(stream);
        await once(stream, "data");
        await sleep(200);
        const held = proxy.held();
        stream.close(constants.NGHTTP2_NO_ERROR);
        await until("the pod saw it", () => seen.length > 0, local);
        expect(seen).toEqual([constants.NGHTTP2_CANCEL]);
        expect(proxy.held()).toBeLessThan(held);
        expect((await asked(session, { ":path": "/next" })).ended).toBe(true);
    });

    it("a caller's reset with NO_ERROR after the answer, within its body, which is not taken for its end", async () => {
        const seen: unknown[] = [];
        const { session } = await sessionThrough((stream) => {
            stream.respond();
            stream.end("pod");
            stream.resume().on("end", () => stream.rstCode === 0 && seen.push("end"));
            stream.on("close", () => seen.push(stream.rstCode));
        });
        const stream = session.request({ ":method": "POST" }, { waitForTrailers: true });
        stream.on("error", () => {}).write("half");
        await once(stream.resume(), "end");
        stream.close(constants.NGHTTP2_NO_ERROR);
        await until("the pod saw it", () => seen.length > 0, local);
        expect(seen).toEqual([constants.NGHTTP2_CANCEL]);
    });

    it("a pod's reset with NO_ERROR within its answer, which is not taken for its end", async () => {
        const { session } = await sessionThrough((stream) => {
            stream.respond({}, { waitForTrailers: true });
            stream.write("half");
            setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), 50);
        });
        expect(await asked(session, {})).toMatchObject({ body: "half", ended: false });
    });

    it("a pod that answers before it was sent all, and wants no more", async () => {
        const { session } = await sessionThrough((stream) => {
            stream.respond({ ":status": 413 });
            stream.end("too long");
            stream.close(constants.NGHTTP2_NO_ERROR);
        });
        const stream = session.request({ ":method": "POST" });
        stream.write("x".repeat(300_000));
        setTimeout(() => stream.end(), 200);
        expect(await answerTo(stream)).toMatchObject({ headers: { ":status": 413 }, body: "too long", ended: true });
    });

    it("as many at a time as the pod allows", async () => {
        let [now, most] = [0, 0];
        const pod = { settings: { maxConcurrentStreams: 3 } };
        const serve: Serve = (stream) => {
            most = Math.max(most, ++now);
            setTimeout(() => {
                now--;
                stream.respond();
                stream.end("x");
            }, 20);
        };
        const { session } = await sessionThrough(serve, { pod });
        await once(session, "remoteSettings");
        expect(session.remoteSettings.maxConcurrentStreams).toBe(3);
        const all = await Promise.all(Array.from({ length: 20 }, () => asked(session, {})));
        expect([all.every(({ body }) => body === "x"), most]).toEqual([true, 3]);
    });

    it("a pod's connection that breaks, as a broken connection", async () => {
        const { session, pod } = await sessionThrough((stream) => {
            stream.respond();
            stream.write("half");
        });
        const stream = session.request();
        const answer = answerTo(stream);
        await once(stream, "data");
        pod.sessions.forEach((one) => one.destroy());
        await until("the end", () => session.destroyed, local);
        expect((await answer).ended).toBe(false);
    });

    it("a pod that closes its connection right after its last answer, which comes whole", async () => {
        const long = "x".repeat(60_000);
        const pod = await http2Pod((stream) => {
            stream.respond({}, { waitForTrailers: true });
            stream.on("wantTrailers", () => {
                stream.sendTrailers({ "x-sum": "7" });
                setImmediate(() => stream.session?.close());
            });
            for (let at = 0; at < 60; at++) stream.write(long.slice(0, 1_000));
            stream.end();
        });
        const proxy = await startProxy(pod.port);
        for (let round = 0; round < 20; round++) {
            const answer = await asked(sessionTo(proxy.url), {});
            expect(answer).toMatchObject({ ended: true, trailers: { "x-sum": "7" } });
            expect(answer.body).toBe(long);
        }
    });

    it("a pod that only knows HTTP/1, which breaks the connection, too", async () => {
        const proxy = await startProxy(await httpPod((_, answer) => answer.end()));
        const session = sessionTo(proxy.url);
        const answer = asked(session, {});
        await until("the end", () => session.destroyed, local);
        expect((await answer).headers).toBeUndefined();
    });

    it("a preface that comes in pieces, slowly", async () => {
        const pod = await http2Pod((stream) => {
            stream.respond();
            stream.end("served");
        });
        const proxy = await startProxy(pod.port, { fault: { delayMs: 1, match: { path: "/" } } });
        const caller = (await Caller.connect(proxy.port)).send("PRI * HT");
        await sleep(700);
        caller.send("TP/2.0", "", "SM", "", frame(4, 0, 0, ""));
        caller.send(frame(1, 5, 1, fields(":method", "GET", ":scheme", "http", ":path", "/", ":authority", "shop")));
        await caller.receives("served");
        expect(proxy.counts()).toMatchObject({ requests: 1, faulted: 1, unfaultable: 0 });
    });

    it("a pod that greets first, whenever the caller comes; other greetings are passed on at once", async () => {
        const { session } = await sessionThrough((stream) => stream.respond({}, { endStream: true }));
        await sleep(200);
        expect((await asked(session, {})).headers).toMatchObject({ ":status": 200 });
        // MySQL's, of 74 bytes, and one that only begins like SETTINGS.
        for (const bytes of ["\x4a\0\0\0\x0a8.0", "\0\0\x06\x04\0\0\0\0\x01"]) {
            const pod = await tcpPod((socket) => socket.write(Buffer.from(bytes, "latin1")));
            await (await Caller.connect((await startProxy(pod.port)).port)).receives(bytes);
        }
    });
});

function pairsOf(raw: readonly string[]): string[][] {
    return Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at]!, raw[2 * at + 1]!]);
}

describe("a fault in HTTP/2", () => {
    const serve: Serve = (stream) => {
        stream.respond();
        stream.end("pod");
    };

    it("answers with status, headers and body, also while a body is on its way", async () => {
        const abort = { status: 429, headers: { "Retry-After": "2", "content-type": "application/json" }, body: "{}" };
        const { session } = await sessionThrough(serve, { fault: { abort } });
        const stream = session.request({ ":method": "POST" });
        stream.write("x".repeat(100_000));
        setTimeout(() => stream.end(), 100);
        expect(await answerTo(stream)).toMatchObject({
            headers: { ":status": 429, "retry-after": "2", "content-type": "application/json", "content-length": "2" },
            body: "{}",
            ended: true,
        });
        expect(await asked(session, { ":method": "HEAD" })).toMatchObject({ headers: { ":status": 429 }, body: "" });
    });

    it("matches the authority as HTTP/1 matches Host, and paths without their query", async () => {
        const match = { path: "/a/*", method: "GET", headers: { Host: "orders" }, except: [{ path: "/a/health" }] };
        const { session, proxy } = await sessionThrough(serve, { fault: { abort: 503, match } });
        const statusOf = async (path: string, host = "orders", method = "GET") =>
            (await asked(session, { ":path": path, ":authority": host, ":method": method })).headers![":status"];
        expect(await statusOf("/a/b?c")).toBe(503);
        const others = [statusOf("/b"), statusOf("/a/b", "other"), statusOf("/a/b", "orders", "PUT")];
        expect(await Promise.all([...others, statusOf("/a/health")])).toEqual([200, 200, 200, 200]);
        expect(proxy.counts()).toMatchObject({ requests: 1, faulted: 1, unmatched: 4, unfaultable: 0 });
    });

    it("has no status of gRPC for what is none: that passes, and spoils the verdict", async () => {
        const fault = { abort: { grpc: 14 } };
        const { session, proxy } = await sessionThrough(serve, { fault });
        const types = [undefined, "application/grpc-web", "application/json"];
        for (const type of types)
            expect((await asked(session, { ...(type && { "content-type": type }) })).body).toBe("pod");
        expect(proxy.counts()).toMatchObject({ requests: 3, faulted: 0, unfaultable: 3 });
        const old = await startProxy(await httpPod((_, answer) => answer.end("pod")), { fault });
        expect(await (await fetch(old.url)).text()).toBe("pod");
        expect(old.counts()).toMatchObject({ requests: 1, faulted: 0, unfaultable: 1 });
    });

    it("is told to the witness as a status of gRPC", async () => {
        const pod = await http2Pod(serve);
        const proxy = await startProxy(pod.port, { fault: { abort: { grpc: "UNAVAILABLE" } }, witness: ["127.0.0.1"] });
        const seen = await probeThrough({ host: "127.0.0.1", port: proxy.port }, ofRun, target, 2_000);
        expect(seen).toEqual({ saw: "status", status: "grpc 14", afterMs: expect.any(Number) });
    });

    it("holds requests for longer than the pod keeps connections that idle: they come over another one", async () => {
        const paths: unknown[] = [];
        const serve: Serve = (stream, headers) => {
            paths.push(headers[":path"]);
            stream.respond();
            stream.end("x");
        };
        const { pod, proxy, session } = await sessionThrough(serve, { fault: { delayMs: 300 } });
        const held = [asked(session, { ":path": "/a" }), asked(session, { ":path": "/b" })];
        await until("the pod has a connection", () => pod.sessions.length > 0);
        pod.sessions[0]!.close();
        for (const answer of await Promise.all(held)) expect(answer).toMatchObject({ body: "x", ended: true });
        expect([paths.sort(), pod.sessions.length]).toEqual([["/a", "/b"], 2]);
        expect(proxy.counts()).toMatchObject({ requests: 2, faulted: 2 });
    });

    it("refuses what it has held if the pod is gone: it has reached nobody", async () => {
        const { pod, session } = await sessionThrough(() => {}, { fault: { delayMs: 300 } });
        const held = asked(session, { ":path": "/" });
        await until("the pod has a connection", () => pod.sessions.length > 0);
        pod.close();
        expect(await held).toMatchObject({ ended: false, code: constants.NGHTTP2_REFUSED_STREAM });
    });

    it("closes connections that are one too many, or hold too much, as those of HTTP/1", async () => {
        const { proxy } = await sessionThrough(serve, { limits: { heldBytes: 200_000 } });
        const sessions: ClientHttp2Session[] = [];
        for (let at = 0; at < 6; at++) {
            sessions.push(sessionTo(proxy.url));
            expect((await asked(sessions.at(-1)!, {})).body).toBe("pod");
        }
        await until("some are closed", () => sessions.filter(({ destroyed }) => destroyed).length >= 3, local);
        expect(proxy.refused()).toBe(0);
    });

    it("closes others that idle, and not the one that idled for longest and asks now", async () => {
        // Room for three connections, and for no request.
        const { session, proxy } = await sessionThrough(serve, { limits: { heldBytes: 3 * 65_536 + 4_096 } });
        await once(session, "remoteSettings");
        await sleep(300);
        const others = [sessionTo(proxy.url), sessionTo(proxy.url)];
        await Promise.all(others.map((other) => once(other, "remoteSettings")));
        expect(await asked(session, {})).toMatchObject({ body: "pod", ended: true });
        await until("one is closed", () => others.some(({ destroyed }) => destroyed), local);
        expect(proxy.refused()).toBe(0);
    });

    it("counts the head of a request among the bytes that its proxy holds", async () => {
        const { session, proxy } = await sessionThrough(() => {});
        session.request({}).on("error", () => {});
        await until("the request", () => proxy.counts()?.requests === 1, local);
        const held = proxy.held();
        session.request({ "x-long": "x".repeat(50_000) }).on("error", () => {});
        await until("the request", () => proxy.counts().requests === 2, local);
        expect(proxy.held() - held).toBeGreaterThan(58_000);
    });

    it("leaves an open connection in good order when its proxy ends", async () => {
        let finish = () => {};
        const slow: Serve = (stream, { ":path": path }) => {
            stream.respond();
            if (path === "/slow") finish = () => stream.end("pod");
            else stream.end("pod");
        };
        const { session, proxy } = await sessionThrough(slow);
        const open = asked(session, { ":path": "/slow" });
        await until("the request", () => proxy.counts()?.requests === 1, local);
        const isGone = once(session, "goaway");
        const stopped = proxy.stop({ acceptMs: 100, closeMs: 5_000 });
        expect((await isGone)[0]).toBe(0);
        finish();
        expect(await open).toMatchObject({ body: "pod", ended: true });
        await stopped;
    });

    it("gives an open request up when its proxy has waited for it, which does not look like an end", async () => {
        const { session, proxy } = await sessionThrough((stream) => {
            stream.respond();
            stream.write("half");
        });
        const stream = session.request({});
        const open = answerTo(stream);
        await once(stream, "data");
        await proxy.stop({ acceptMs: 100, closeMs: 200 });
        expect(await open).toMatchObject({ body: "half", ended: false });
    });
});
