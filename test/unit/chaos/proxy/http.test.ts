import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { local, until } from "../../../support/until";
import { Caller, httpPod, startProxy, target, tcpPod } from "./support";

const get = ["GET / HTTP/1.1", "Host: shop", "", ""];

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
});
