import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Crowd } from "../../../../../../../chaos/kinds/attacks/fault/proxy/crowd";
import { local, until } from "../../../../../../support/until";
import { Caller, echoPod, get, httpPod, startProxy, tcpPod } from "./support";

const pod = () => httpPod((_, response) => response.end("from the pod"));
const isServed = async (port: number) => (await Caller.connect(port)).send(...get).receives("from the pod");

describe("a request that no server would wait for is refused alone", () => {
    it("with 431 if its head is longer than 64 KiB", async () => {
        const proxy = await startProxy(await pod());
        const other = await Caller.connect(proxy.port);
        const caller = (await Caller.connect(proxy.port)).send("GET / HTTP/1.1", `X: ${"x".repeat(100_000)}`);
        expect(await caller.toEnd()).toMatch(/^HTTP\/1\.1 431 .*\r\nConnection: close\r\nContent-Length: 0\r\n\r\n$/);
        await other.send(...get).receives("from the pod");
        expect(proxy.refused()).toBe(0);
    });

    it("with 408 if its head takes too long, though bytes come; an idle connection may wait", async () => {
        const proxy = await startProxy(await pod(), { limits: { headMs: 300 } });
        const idle = await Caller.connect(proxy.port);
        const kept = (await Caller.connect(proxy.port)).send(...get);
        await kept.receives("from the pod");
        const caller = (await Caller.connect(proxy.port)).send("GET / HTTP/1.1", "X: ");
        const begun = performance.now();
        const drip = setInterval(() => caller.send("x"), 50);
        expect(await caller.toEnd()).toMatch(/^HTTP\/1\.1 408 /);
        clearInterval(drip);
        expect(performance.now() - begun).toBeLessThan(1_000);
        for (const one of [idle, kept]) await one.send(...get).receives("from the pod");
    });

    it("but what only begins as a request might, and waits for its answer, is passed on", async () => {
        const proxy = await startProxy((await echoPod()).port, { limits: { headMs: 100 } });
        await (await Caller.connect(proxy.port)).send("GET").receives("GET");
    });
});

describe("of too many connections", () => {
    it("one that idles makes room for a new one, also with an unfinished head", async () => {
        const proxy = await startProxy(await pod(), { limits: { connections: 2 } });
        const first = (await Caller.connect(proxy.port)).send("GET / HTTP/1.1", "X: ");
        await Caller.connect(proxy.port);
        await sleep(50);
        await isServed(proxy.port);
        await first.isReset();
        expect(proxy.refused()).toBe(0);
    });

    it("a new one is refused if all have requests on their way, and that is counted", async () => {
        const answers: (() => void)[] = [];
        const port = await httpPod((_, response) => void answers.push(() => response.end("late")));
        const proxy = await startProxy(port, { limits: { connections: 2 } });
        const callers = [await Caller.connect(proxy.port), await Caller.connect(proxy.port)];
        for (const caller of callers) caller.send(...get);
        await until("the pod has both", () => answers.length === 2, local);
        await (await Caller.connect(proxy.port)).isReset();
        expect(proxy.refused()).toBe(1);
        answers.forEach((answer) => answer());
        for (const caller of callers) await caller.receives("late");
    });

    const member = (address: string, idle = false, more: { heldBytes?: number; movedAt?: number } = {}) => ({
        ...{ address, idle, movedAt: 0, heldBytes: 0, closed: false, ...more },
        reset() {
            this.closed = true;
        },
    });
    const crowdOf = (members: ReturnType<typeof member>[], heldBytes = 1_000) => {
        let shed = 0;
        const crowd = new Crowd<ReturnType<typeof member>>(() => shed++, { connections: members.length, heldBytes });
        for (const one of members) crowd.admits(one);
        return { crowd, shed: () => shed };
    };

    it("an idle one of the caller that has most is closed, the oldest first", () => {
        const members = [member("b", true), member("a"), member("a", true), member("a", true)];
        const { crowd, shed } = crowdOf(members);
        expect(crowd.admits(member("b"))).toBe(true);
        expect(members.map(({ closed }) => closed)).toEqual([false, false, true, false]);
        expect(shed()).toBe(0);
    });

    it("a caller that has most of them makes room for another caller, if none is idle", () => {
        const members = [member("b"), member("a"), member("a"), member("a")];
        const { crowd, shed } = crowdOf(members);
        expect(crowd.admits(member("a"))).toBe(false);
        expect(crowd.admits(member("b"))).toBe(true);
        expect(members.map(({ closed }) => closed)).toEqual([false, true, false, false]);
        expect(crowd.admits(member("c"))).toBe(true);
        expect(crowd.members.size).toBe(4);
        expect(shed()).toBe(3);
    });

    it("of too many bytes, those are given up that were held for longest, and not a few that wait with them", () => {
        const now = performance.now();
        const delayed = member("a", false, { movedAt: now - 10_000 });
        const slow = member("a", false, { movedAt: now - 1_000 });
        const unfinished = member("a", true, { movedAt: now - 3_000 });
        const busy = member("a", false, { movedAt: now });
        const { crowd, shed } = crowdOf([delayed, slow, busy, unfinished]);
        for (const [one, bytes] of [
            [delayed, 10],
            [slow, 500],
            [busy, 400],
            [unfinished, 500],
            [busy, 200],
        ] as const) {
            one.heldBytes += bytes;
            crowd.holds(one, bytes);
        }
        expect([delayed, slow, busy, unfinished].map(({ closed }) => closed)).toEqual([false, true, false, true]);
        // An unfinished head is no request yet.
        expect(shed()).toBe(1);
    });
});

it("bytes that nobody takes are bounded for all connections together, and others go on", async () => {
    const silent = await tcpPod((socket) => socket.pause());
    const proxy = await startProxy(silent.port, { limits: { heldBytes: 1_000_000 } });
    const slow = await Promise.all(Array.from({ length: 30 }, () => Caller.connect(proxy.port)));
    for (const caller of slow) caller.send("PUT / HTTP/1.1", "Content-Length: 900000000", "", "x".repeat(20_000_000));
    await until("some were closed", () => proxy.refused() > 0, local);
    await until("their callers know", () => slow.some(({ closed }) => closed), local);
});
