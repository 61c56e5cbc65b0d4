import { Hono } from "hono";
import { setImmediate as turn } from "node:timers/promises";
import pino from "pino";
import { afterEach, expect, it, vi } from "vitest";
import { serveHealth } from "../../../services/shared/health";

afterEach(() => void vi.restoreAllMocks());

it("only a program that is ready lets a moment of its own pass before it checks again", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.2);
    const application = new Hono();
    const check = vi.fn<() => Promise<void>>().mockRejectedValueOnce(new Error("not yet")).mockResolvedValue();
    serveHealth(application, pino({ level: "silent" }), check);
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
