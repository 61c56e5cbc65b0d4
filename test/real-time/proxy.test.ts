import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { probeThrough } from "../../chaos/kinds/attacks/fault/proxy/probe";
import { local, until } from "../support/until";
import { freePorts, ofRun, readiness, startPod, startProxyProgram } from "./proxy-program";

const fault = { delayMs: 100, abort: 503, percentage: 100 };

it("the proxy's program is ready when it knows its pods, forwards, faults, reports, and ends on SIGTERM", async () => {
    let listable = false;
    const pod = await startPod(
        (_, response) => response.end("from the pod"),
        () => listable,
    );
    const [port, witnessed, readyPort] = (await freePorts(3)) as [number, number, number];
    const proxy = startProxyProgram(pod, { port, readyPort, fault });
    await until("it is not ready", async () => (await readiness(readyPort)) === 503, local);
    listable = true;
    await until("it is ready", async () => (await readiness(readyPort)) === 200, local);
    expect(proxy.said()).toContain("at most 4000 connections at a time, 24 MiB of their bytes");

    await until("it has reached the pod", () => proxy.reached(), local);
    expect(proxy.reached()).toEqual([{ pod: "a-target", listen: port, saw: "connected" }]);

    const refused = await fetch(`http://127.0.0.1:${port}`);
    expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining("the-run")]);
    const counts = { requests: 1, faulted: 1, unfaultable: 0, unreachable: 0 };
    await until("it is reported", () => proxy.reports().at(-1)?.pods["a-target"], local);
    const pods = { "a-target": counts };
    expect(proxy.reports().at(-1)).toEqual({ at: expect.any(Number), since: expect.any(Number), pods });

    proxy.child.kill("SIGTERM");
    await until("faults are over", async () => (await fetch(`http://127.0.0.1:${port}`)).ok, local);
    proxy.child.kill("SIGTERM");
    await until("it ends", () => proxy.child.exitCode !== null, local);
    expect(proxy.child.exitCode).toBe(0);
    const lines = proxy.reports();
    expect(
        lines.every(({ at }, index) => index === 0 || at - lines[index - 1]!.at > 900 || index === lines.length - 1),
    ).toBe(true);

    startProxyProgram(pod, { port: witnessed, readyPort, fault, witness: "the-witness" });
    await until("it is ready", async () => (await readiness(readyPort)) === 200, local);
    const seen = await probeThrough({ host: "127.0.0.1", port: witnessed }, ofRun, "a-target", 2_000);
    expect(seen).toMatchObject({ saw: "status", status: "503" });
});

it("a proxy that was killed and is started again goes on with its fault, and its counts say that it was", async () => {
    const pod = await startPod((_, response) => response.end("from the pod"));
    const [port, readyPort] = (await freePorts(2)) as [number, number];
    const options = { port, readyPort, fault };
    const since = new Set<number | undefined>();
    for (const time of ["at first", "again"]) {
        const proxy = startProxyProgram(pod, options);
        await until(`it is ready ${time}`, async () => (await readiness(readyPort)) === 200, local);
        expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(503);
        await until(`it is reported ${time}`, () => proxy.reports().at(-1)?.pods["a-target"]?.faulted === 1, local);
        since.add(proxy.reports().at(-1)!.since);
        proxy.child.kill("SIGKILL");
        await until("it is gone", () => proxy.child.signalCode !== null, local);
        await sleep(10);
    }
    expect(since.size).toBe(2);
});

it("after SIGTERM it serves callers, without faults, as long as its Service points to it", async () => {
    const pod = await startPod((_, response) => response.end("from the pod"));
    const [port, readyPort] = (await freePorts(2)) as [number, number];
    const proxy = startProxyProgram(pod, { port, readyPort, fault, faulted: "hot-deals" });
    await until("it is ready", async () => (await readiness(readyPort)) === 200, local);
    proxy.child.kill("SIGTERM");
    await sleep(4_500);
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe("from the pod");
    expect([await readiness(readyPort), proxy.child.exitCode]).toEqual([200, null]);
});
