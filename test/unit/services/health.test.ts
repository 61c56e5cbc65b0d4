import { Hono } from "hono";
import { setImmediate as turn } from "node:timers/promises";
import pino from "pino";
import { afterEach, expect, it, vi } from "vitest";
import { msToMoment, serveHealth } from "../../../services/shared/health";

afterEach(() => void vi.restoreAllMocks());

it("only a program that is ready waits for its moment before it checks again", async () => {
    const early = msToMoment("10.244.0.7", 0) + 400;
    vi.spyOn(Date, "now").mockReturnValue(early);
    const application = new Hono();
    const check = vi.fn<() => Promise<void>>().mockRejectedValueOnce(new Error("not yet")).mockResolvedValue();
    serveHealth(application, pino({ level: "silent" }), check, "10.244.0.7");
    const probe = () => application.request("/health/readiness");

    expect((await probe()).status).toBe(503);
    const atOnce = probe();
    await turn();
    expect(check).toHaveBeenCalledTimes(2);
    expect((await atOnce).status).toBe(200);
    const later = probe();
    await turn();
    expect(check).toHaveBeenCalledTimes(2);
    expect((await later).status).toBe(200);
    expect(check).toHaveBeenCalledTimes(3);
});

it.each([
    ["IPv4", (pod: number) => `10.244.0.${pod}`],
    ["IPv6", (pod: number) => `fd00:10:244::${pod.toString(16)}`],
])("the pods of a node that were started together check well apart from each other, by %s", (_family, address) => {
    for (let first = 2; first < 240; first++) {
        const moments = Array.from({ length: 7 }, (_, pod) => msToMoment(address(first + pod), 0)).sort(
            (a, b) => a - b,
        );
        const gaps = moments.map(
            (moment, at) => (at + 1 < moments.length ? moments[at + 1]! : moments[0]! + 500) - moment,
        );
        expect(Math.min(...gaps)).toBeGreaterThan(20);
    }
});

it("a pod's moment comes again and again, half a second apart", () => {
    const now = 1_795_365_662_993;
    const wait = msToMoment("10.244.0.7", now);
    expect(msToMoment("10.244.0.7", now + 500)).toBe(wait);
    expect(msToMoment("10.244.0.7", now + wait / 2)).toBeCloseTo(wait / 2);
    expect(wait).toBeLessThan(500);
});
