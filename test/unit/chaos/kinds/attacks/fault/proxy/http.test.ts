import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { local, until } from "../../../../../../support/until";
import { Caller, closedPort, get, httpPod, slice, startProxy, switchingPod, tcpPod } from "./support";

/** A pod that remembers the bytes that it gets, and answers as a test says. */
async function scriptedPod(answer: (got: string) => string | undefined) {
    let got = "";
    const pod = await tcpPod((socket) =>
        socket.on("data", (chunk) => {
            got += chunk.toString("latin1");
            const text = answer(got);
            if (text !== undefined) socket.write(text, "latin1");
        }),
    );
    return { ...pod, got: () => got };
}

const ok = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe("requests in HTTP/1.1 in clear text", () => {
    it("reach the pod byte by byte as they were sent, and so do answers the caller", async () => {
        const answer = "HTTP/1.1 299 Odd Words\r\nX-a: 1\r\nx-A: 2\r\nset-COOKIE: \xe4\r\ncontent-length: 2\r\n\r\nok";
        const pod = await scriptedPod(() => answer);
        const proxy = await startProxy(pod.port);
        const sent = ["POST /a?b HTTP/1.1", "hOST: shop", "X-b: 1", "x-B:2 ", "Content-Length: 3", "", "abc"];
        const caller = (await Caller.connect(proxy.port)).send(...sent);
        await caller.receives(answer);
        expect(pod.got()).toBe(sent.join("\r\n"));
        expect(proxy.counts()).toEqual({ requests: 1, faulted: 1, unfaultable: 0, unreachable: 0 });
    });

    it("are counted one by one on a kept connection, which stays at its pod", async () => {
        const ports: (number | undefined)[] = [];
        const pod = await httpPod(({ socket }, response) => response.end(String(ports.push(socket.remotePort))));
        const proxy = await startProxy(pod);
        const caller = await Caller.connect(proxy.port);
        for (const count of ["1", "2", "3"]) {
            caller.send(...get);
            await caller.receives(`\r\n\r\n${count}`);
        }
        expect(new Set(ports).size).toBe(1);
        expect(proxy.counts().requests).toBe(3);
    });

    it("are answered in order if they are pipelined, whatever the pod takes for each", async () => {
        const pod = await httpPod(({ url }, response) => {
            setTimeout(() => response.end(`answer to ${url}`), url === "/1" ? 100 : 0);
        });
        const proxy = await startProxy(pod);
        const caller = await Caller.connect(proxy.port);
        const lines = ["/1", "/2", "/3"].flatMap((path) => [`GET ${path} HTTP/1.1`, "Host: shop", ""]);
        caller.send(...lines, "");
        for (const path of ["/1", "/2", "/3"]) await caller.receives(`answer to ${path}`);
        expect(proxy.counts().requests).toBe(3);
    });

    it.each<[string, string[], string, string]>([
        ["to HEAD has a length but no body", ["HEAD / HTTP/1.1"], "HTTP/1.1 200 OK\r\nContent-Length: 5", ""],
        ["of status 204 has no body", ["DELETE / HTTP/1.1"], "HTTP/1.1 204 No Content", ""],
        ["of status 304 has a length but no body", ["GET / HTTP/1.1"], "HTTP/1.1 304 Same\r\nContent-Length: 5", ""],
        ["is in chunks", ["GET / HTTP/1.1"], "HTTP/1.1 200\r\nTransfer-Encoding: chunked", "3;x=y\r\nabc\r\n0\r\n\r\n"],
        [
            "has trailers",
            ["GET / HTTP/1.1", "TE: trailers"],
            "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, Chunked\r\nTrailer: X-Sum",
            "a\r\n0123456789\r\n000\r\nX-Sum: 1\r\nx-sUM: 2\r\n\r\n",
        ],
        [
            "comes after two that inform",
            ["GET / HTTP/1.1"],
            "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" +
                "HTTP/1.1 200 OK\r\nContent-Length: 1",
            "x",
        ],
    ])("an answer %s, and the connection goes on", async (_, lines, head, body) => {
        const answer = `${head}\r\n\r\n${body}`;
        const pod = await scriptedPod((got) => (got.endsWith("\r\n\r\n") ? answer : undefined));
        const proxy = await startProxy(pod.port);
        const caller = await Caller.connect(proxy.port);
        for (let round = 0; round < 2; round++) {
            caller.send(...lines, "Host: shop", "", "");
            await caller.receives(answer);
        }
        expect([pod.sockets.length, proxy.counts().requests]).toEqual([1, 2]);
    });

    it("an answer without a length ends with its connection", async () => {
        const pod = await tcpPod((socket) =>
            socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\n\r\nuntil the end")),
        );
        const proxy = await startProxy(pod.port);
        const caller = (await Caller.connect(proxy.port)).send(...get);
        expect(await caller.toEnd()).toBe("HTTP/1.1 200 OK\r\n\r\nuntil the end");
    });

    it("HTTP/1.0 stays HTTP/1.0, both ways", async () => {
        const pod = await tcpPod((socket) =>
            socket.once("data", (got) => socket.end(`HTTP/1.0 200 OK\r\n\r\n${got.toString("latin1")}`)),
        );
        const proxy = await startProxy(pod.port);
        const caller = (await Caller.connect(proxy.port)).send("GET / HTTP/1.0", "", "");
        expect(await caller.toEnd()).toBe("HTTP/1.0 200 OK\r\n\r\nGET / HTTP/1.0\r\n\r\n");
    });

    it("wait for `100 Continue` if they expect it", async () => {
        const pod = await httpPod((asked, response) => void asked.pipe(response));
        const proxy = await startProxy(pod);
        const lines = ["PUT / HTTP/1.1", "Host: shop", "Expect: 100-continue", "Content-Length: 4", "", ""];
        const caller = (await Caller.connect(proxy.port)).send(...lines);
        await caller.receives("HTTP/1.1 100 Continue\r\n\r\n");
        caller.send("body");
        await caller.receives("body");
    });

    it("may become a WebSocket, which is piped both ways", async () => {
        const pod = await httpPod(
            () => {},
            (server) =>
                server.on("upgrade", (_request, socket, head) => {
                    socket.write(
                        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\nhello",
                    );
                    socket.write(head);
                    socket.pipe(socket);
                }),
        );
        const proxy = await startProxy(pod);
        const lines = ["GET / HTTP/1.1", "Host: shop", "Connection: Upgrade", "Upgrade: websocket", "", "early"];
        const caller = (await Caller.connect(proxy.port)).send(...lines);
        await caller.receives("\r\n\r\nhelloearly");
        caller.send("GET / HTTP/1.1", "", "");
        await caller.receives("GET / HTTP/1.1\r\n\r\n");
        caller.socket.end();
        expect(await caller.toEnd()).toBe("");
        expect(proxy.counts().requests).toBe(1);
    });

    it("go on as HTTP if the pod ignores their `Upgrade: h2c`, which Java's client sends by default", async () => {
        const pod = await scriptedPod((got) => (got.endsWith("\r\n\r\nbody") ? ok("first") : ok("second")));
        const proxy = await startProxy(pod.port);
        const caller = await Caller.connect(proxy.port);
        const upgrade = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAAAAIAAAAB"];
        caller.send("POST / HTTP/1.1", "Host: shop", ...upgrade, "Content-Length: 4", "", "body");
        await caller.receives("first");
        caller.send(...get);
        await caller.receives("second");
        expect(proxy.counts().requests).toBe(2);
    });

    it("open a tunnel with CONNECT, if the pod agrees", async () => {
        const pod = await switchingPod("HTTP/1.1 200 Connected");
        const proxy = await startProxy(pod.port);
        const caller = (await Caller.connect(proxy.port)).send("CONNECT db:5432 HTTP/1.1", "Host: db:5432", "", "");
        await caller.receives("\r\n\r\n");
        caller.send("bytes");
        await caller.receives("bytes");
    });

    it("may have heads of up to 64 KiB, which come bit by bit", async () => {
        const pod = await scriptedPod((got) => (got.endsWith("\r\n\r\n") ? ok("done") : undefined));
        const proxy = await startProxy(pod.port);
        for (const size of [20_000, 60_000]) {
            const caller = await Caller.connect(proxy.port);
            caller.send("GET / HTTP/1.1", `X-Large: ${"x".repeat(size)}`, "");
            await sleep(50);
            caller.send("", "");
            await caller.receives("done");
        }
        expect(pod.got().length).toBeGreaterThan(80_000);
    });

    it("whose length is ambiguous are left to the pod and its caller", async () => {
        const pod = await scriptedPod(() => ok("answer"));
        const proxy = await startProxy(pod.port);
        const caller = await Caller.connect(proxy.port);
        caller.send("POST / HTTP/1.1", "Content-Length: 1", "Content-Length: 2", "", "ab");
        await caller.receives("answer");
        caller.send("and more");
        await until("the pod has it", () => pod.got().endsWith("\r\n\r\naband more"), local);
    });
});

describe("bodies stream", () => {
    it("both ways at once, with back-pressure: a pod that reads nothing stops its caller", async () => {
        const pod = await tcpPod((socket) => socket.pause());
        const proxy = await startProxy(pod.port);
        const caller = (await Caller.connect(proxy.port)).send("PUT / HTTP/1.1", "Content-Length: 900000000", "", "");
        const chunk = Buffer.alloc(1_000_000);
        let taken = 0;
        const before = process.memoryUsage.rss();
        while (caller.socket.write(chunk) || (await drainedWithin(caller, 300))) taken += chunk.length;
        // The kernel's own buffers, of two connections.
        expect(taken).toBeLessThan(60_000_000);
        expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000);
    });

    it("an answer may begin before its request has ended", async () => {
        const pod = await httpPod((asked, response) => {
            response.writeHead(200).write("begun");
            asked.on("data", (chunk) => response.write(chunk)).on("end", () => response.end("ended"));
        });
        const proxy = await startProxy(pod);
        const asked = request(proxy.url, { method: "POST", agent: false });
        asked.flushHeaders();
        const [response] = await once(asked, "response");
        let got = "";
        response.setEncoding("utf8").on("data", (text: string) => (got += text));
        await until("the first part", () => got === "begun", local);
        asked.write("one");
        await until("the echo", () => got === "begunone", local);
        asked.end("two");
        await until("the end", () => got === "begunonetwoended", local);
    });
});

async function drainedWithin(caller: Caller, ms: number): Promise<boolean> {
    return Promise.race([once(caller.socket, "drain").then(() => true), sleep(ms).then(() => false)]);
}

describe("a connection's end", () => {
    it("is the caller's when the pod closes its own, idle or in the middle of an answer", async () => {
        const pod = await tcpPod((socket) => {
            socket.once("data", () => {
                socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
                socket.end();
            });
        });
        const proxy = await startProxy(pod.port);
        const caller = (await Caller.connect(proxy.port)).send(...get);
        expect(await caller.toEnd()).toContain("half");
        const idling = await tcpPod((socket) => {
            socket.once("data", () => socket.write(ok("x"), () => setTimeout(() => socket.end(), 50)));
        });
        const idle = (await Caller.connect((await startProxy(idling.port)).port)).send(...get);
        expect(await idle.toEnd()).toBe(ok("x"));
        expect(idle.error).toBeUndefined();
    });

    it("is a reset when the pod resets", async () => {
        const pod = await tcpPod((socket) => socket.once("data", () => socket.resetAndDestroy()));
        const proxy = await startProxy(pod.port);
        await (await Caller.connect(proxy.port)).send(...get).isReset();
    });

    it.each<[string, (caller: Caller) => unknown]>([
        ["closes", (caller) => caller.socket.end()],
        ["resets", (caller) => caller.socket.resetAndDestroy()],
    ])("is the pod's when a caller that waits %s", async (_, leave) => {
        let asked = false;
        let left = false;
        const pod = await httpPod(({ socket }) => {
            asked = true;
            socket.on("close", () => (left = true));
        });
        const proxy = await startProxy(pod);
        const caller = (await Caller.connect(proxy.port)).send(...get);
        await until("the pod is asked", () => asked, local);
        leave(caller);
        await until("the pod's connection has ended", () => left, local);
    });

    it("tells what the pod said last, such as 408", async () => {
        const late = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";
        const pod = await tcpPod((socket) => void setTimeout(() => socket.end(late), 50));
        const proxy = await startProxy(pod.port);
        const caller = (await Caller.connect(proxy.port)).send("GET / HTTP/1.1", "Host");
        expect(await caller.toEnd()).toBe(late);
    });
});

describe("a Service", () => {
    it("whose pod does not accept resets the caller, and counts that", async () => {
        const proxy = await startProxy(await closedPort());
        await (await Caller.connect(proxy.port)).send(...get).isReset();
        expect(proxy.counts()).toEqual({ requests: 0, faulted: 0, unfaultable: 0, unreachable: 1 });
    });

    it("without pods resets its callers", async () => {
        const proxy = await startProxy(0, { slices: [] });
        await (await Caller.connect(proxy.port)).send(...get).isReset();
    });

    it("with several pods gives each its share of the connections", async () => {
        const pods = await Promise.all(["a", "b"].map((name) => httpPod((_, response) => response.end(name))));
        const proxy = await startProxy(0, { slices: pods.map((port, index) => slice(port, [`pod-${index}`])) });
        const answers = await Promise.all(Array.from({ length: 100 }, () => answerOf(proxy.url)));
        const ofA = answers.filter((answer) => answer === "a").length;
        expect(ofA).toBeGreaterThan(20);
        expect(ofA).toBeLessThan(80);
        expect(proxy.counts("pod-0").requests).toBe(ofA);
    });
});

/** The body of the answer over a new connection. */
async function answerOf(url: string): Promise<string> {
    return (await fetch(url, { headers: { connection: "close" } })).text();
}
