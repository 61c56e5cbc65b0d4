import { Hono } from "hono";
import pino from "pino";
import { expect, it, vi } from "vitest";
import { serveHealth } from "../../../services/shared/health";

it("each readiness probe checks again, and says why a pod is not ready", async () => {
    const application = new Hono();
    const check = vi.fn<() => Promise<void>>().mockRejectedValueOnce(new Error("not yet")).mockResolvedValue();
    serveHealth(application, pino({ level: "silent" }), check);
    const probe = () => application.request("/health/readiness");

    const refused = await probe();
    expect([refused.status, await refused.json()]).toMatchObject([503, { detail: "not yet" }]);
    expect((await probe()).status).toBe(200);
    expect((await probe()).status).toBe(200);
    expect(check).toHaveBeenCalledTimes(3);
});
