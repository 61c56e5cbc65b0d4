import { Hono } from "hono";
import { setImmediate as turn } from "node:timers/promises";
import pino from "pino";
import { afterEach, expect, it, vi } from "vitest";
import { msToSlot, serveHealth } from "../../../services/shared/health";

afterEach(() => void vi.restoreAllMocks());

it("only a ready pod waits for its slot before it checks again", async () => {
    const early = msToSlot("10.244.0.7", 0) + 400;
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
])("pods of a node that start together check well apart from each other, with %s", (_family, address) => {
    for (let first = 2; first < 240; first++) {
        const slots = Array.from({ length: 7 }, (_, pod) => msToSlot(address(first + pod), 0)).sort((a, b) => a - b);
        const gaps = slots.map((slot, at) => (at + 1 < slots.length ? slots[at + 1]! : slots[0]! + 500) - slot);
        expect(Math.min(...gaps)).toBeGreaterThan(20);
    }
});

it("a pod's slot comes every 500 ms", () => {
    const now = 1_795_365_662_993;
    const wait = msToSlot("10.244.0.7", now);
    expect(msToSlot("10.244.0.7", now + 500)).toBe(wait);
    expect(msToSlot("10.244.0.7", now + wait / 2)).toBeCloseTo(wait / 2);
    expect(wait).toBeLessThan(500);
});
