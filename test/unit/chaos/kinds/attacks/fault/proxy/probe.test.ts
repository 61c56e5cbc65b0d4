import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { probeThrough } from "../../../../../../../chaos/kinds/attacks/fault/proxy/probe";
import { bannerOf } from "../../../../../../../chaos/kinds/attacks/fault/proxy/protocol";
import { Caller, closedPort, httpPod, ofRun, slice, startProxy, target, tcpPod } from "./support";

// Probes come from here.
const witness = ["127.0.0.1"];
const at = (port: number) => ({ host: "127.0.0.1", port });
const probe = (port: number, uid = target, timeoutMs = 5_000) => probeThrough(at(port), ofRun, uid, timeoutMs);
const pod = () => httpPod((_, response) => response.end());

describe("through the proxy, the witness sees", () => {
    it("the connection to a pod that is no target, without the fault", async () => {
        const port = await pod();
        const slices = [slice(port, ["another"])];
        const proxy = await startProxy(port, { witness, slices, fault: { delayMs: 500, abort: 503 } });
        const seen = await probe(proxy.port, "another");
        expect(seen).toEqual({ saw: "connected", afterMs: expect.any(Number) });
        expect((seen as { afterMs: number }).afterMs).toBeLessThan(300);
    });

    it("the delay of a target, whatever the dice say", async () => {
        const proxy = await startProxy(await pod(), { witness, fault: { delayMs: 200, percentage: 0 } });
        const seen = await probe(proxy.port);
        expect(seen).toEqual({ saw: "connected", afterMs: expect.any(Number) });
        expect((seen as { afterMs: number }).afterMs).toBeGreaterThan(195);
        expect((seen as { afterMs: number }).afterMs).toBeLessThan(500);
    });

    it("the status, after the delay", async () => {
        const proxy = await startProxy(await pod(), { witness, fault: { delayMs: 100, abort: 418 } });
        expect(await probe(proxy.port)).toEqual({ saw: "status", status: "418", afterMs: expect.any(Number) });
    });

    it("the reset", async () => {
        const proxy = await startProxy(await pod(), { witness, fault: { abort: "reset" } });
        expect(await probe(proxy.port)).toEqual({ saw: "reset", afterMs: expect.any(Number) });
    });

    it("the rate, by how long the answer takes, after the delay", async () => {
        const fault = { delayMs: 100, bytesPerSecond: 5_000 };
        const proxy = await startProxy(await pod(), { witness, fault });
        const seen = await probe(proxy.port);
        expect(seen).toEqual({ saw: "connected", afterMs: expect.any(Number) });
        expect((seen as { afterMs: number }).afterMs).toBeGreaterThan(295);
        expect((seen as { afterMs: number }).afterMs).toBeLessThan(1_000);
    });

    it.each([{ cutAfter: 0 }, { cutAfter: 1_000_000 }, { cutAfter: 300, bytesPerSecond: 5_000 }])(
        "a reset if answers are cut, however late: %j",
        async (fault) => {
            const proxy = await startProxy(await pod(), { witness, fault });
            expect(await probe(proxy.port)).toMatchObject({ saw: "reset" });
        },
    );

    it.each([{ first: 1 }, { every: 9 }, { pulse: { onMs: 1, offMs: 1_000_000 } }])(
        "what becomes of a request that is hit, though the next one may not be: %j",
        async (turns) => {
            const proxy = await startProxy(await pod(), { witness, fault: { abort: 503, ...turns } });
            for (let round = 0; round < 2; round++)
                expect(await probe(proxy.port)).toMatchObject({ saw: "status", status: "503" });
        },
    );

    it("silence if requests hang", async () => {
        const proxy = await startProxy(await pod(), { witness, fault: { abort: "hang" } });
        expect(await probe(proxy.port, target, 200)).toEqual({ saw: "silent" });
    });

    it("that a pod does not accept connections, or is unknown", async () => {
        const proxy = await startProxy(await closedPort(), { witness });
        expect(await probe(proxy.port)).toMatchObject({ saw: "unreachable" });
        expect(await probe(proxy.port, "nobody")).toMatchObject({ saw: "unknown" });
    });

    it("a pod that is not ready, too", async () => {
        const port = await pod();
        const proxy = await startProxy(port, { witness, slices: [slice(port, [target], { ready: false })] });
        expect(await probe(proxy.port)).toMatchObject({ saw: "connected" });
    });

    it("no fault any more once the proxy stops", async () => {
        const proxy = await startProxy(await pod(), { witness, fault: { abort: "reset" } });
        void proxy.stop({ acceptMs: 300 });
        expect(await probe(proxy.port)).toMatchObject({ saw: "connected" });
    });

    it("and it counts nowhere", async () => {
        const proxy = await startProxy(await pod(), { witness, fault: { abort: 503 } });
        await probe(proxy.port);
        expect(proxy.counts()).toBeUndefined();
    });
});

describe("without the run's proxy, the witness sees", () => {
    it.each<[string, (socket: import("node:net").Socket) => unknown]>([
        ["says nothing", () => {}],
        ["speaks first", (socket) => socket.write("220 mail.example ESMTP\r\n")],
        ["speaks first without an end of a line", (socket) => socket.write("\x00".repeat(100_000))],
        ["closes", (socket) => socket.end()],
        ["resets", (socket) => socket.resetAndDestroy()],
        ["is the proxy of another run", (socket) => socket.write(`${bannerOf({ ...ofRun, run: "another" })}\n`)],
        ["only knows the name of the run", (socket) => socket.write("chaos-experiments the-run\n")],
        ["knows another value", (socket) => socket.write(`${bannerOf({ ...ofRun, pass: "another" })}\n`)],
    ])("that it was bypassed, if the server %s", async (_, serve) => {
        const { port } = await tcpPod(serve);
        expect(await probe(port, target, 300)).toEqual({ saw: "bypassed" });
    });

    it("that it was refused", async () => {
        expect(await probe(await closedPort())).toEqual({ saw: "refused" });
    });

    it("the pod from any address of its own", async () => {
        const proxy = await startProxy(await pod(), { witness: ["fd00::9", ...witness] });
        expect(await probe(proxy.port)).toMatchObject({ saw: "connected" });
    });

    it("that it was bypassed, if the proxy takes it for an ordinary caller", async () => {
        const proxy = await startProxy(await pod(), { witness: ["10.0.0.7"] });
        expect(await probe(proxy.port, target, 300)).toEqual({ saw: "bypassed" });
    });
});

it("the witness is who is listed now: who gets its address later is served, and another witness is known", async () => {
    const proxy = await startProxy(await httpPod((_, response) => response.end("served")), { witness });
    expect(await probe(proxy.port)).toMatchObject({ saw: "connected" });
    proxy.witnessIsAt(["10.0.0.7"]);
    expect(await probe(proxy.port, target, 300)).toEqual({ saw: "bypassed" });
    const later = (await Caller.connect(proxy.port)).send("GET / HTTP/1.1", "Host: a", "", "");
    await later.receives("served");
    proxy.witnessIsAt(["::1", ...witness]);
    expect(await probe(proxy.port)).toMatchObject({ saw: "connected" });
});

describe("a probe", () => {
    it("must name its pod in 100 bytes", async () => {
        const proxy = await startProxy(await pod(), { witness });
        const caller = (await Caller.connect(proxy.port)).send("x".repeat(200));
        await caller.isReset();
    });

    it("is never forwarded, though it says what a request would", async () => {
        const got: string[] = [];
        const { port } = await tcpPod((socket) => socket.on("data", (chunk) => got.push(String(chunk))));
        const proxy = await startProxy(port, { witness });
        const caller = (await Caller.connect(proxy.port)).send("GET / HTTP/1.1", "", "");
        await caller.receives(`${bannerOf(ofRun)}\nunknown\n`);
        await sleep(50);
        expect(got).toEqual([]);
    });
});
