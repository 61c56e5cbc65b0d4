import type { Hono } from "hono";
import { type Log, reasonOf } from "./log";
import { notReady } from "./problem";

/** Time limit of a readiness check, in milliseconds: less than the 1 s that a kubelet waits by default. */
export const READINESS_TIMEOUT_MS = 800;

/**
 * Adds `/health/liveness` and `/health/readiness`.
 *
 * Liveness says that the process answers. It depends on no other program: a kubelet restarts a pod that is not alive,
 * and a restart does not fix another program's outage.
 *
 * Readiness takes a pod out of its Services. The kubelet's own request proves nothing about the network: the
 * NetworkPolicy specification exempts traffic between a pod and its node, so probes still reach a pod that is cut off
 * from everything else. Nor does an established connection: it may survive a new policy (the specification leaves that
 * open; in kube-router, Calico and Antrea it does). So `check` must open a fresh outbound connection; if it cannot, it
 * throws an error whose message is safe for clients.
 */
export function serveHealth(application: Hono, log: Log, check: () => Promise<void>): void {
    application.get("/health/liveness", (context) => context.json({ status: "UP" }));

    let wasReady: boolean | undefined;
    application.get("/health/readiness", async (context) => {
        try {
            await check();
        } catch (error) {
            const detail = error instanceof Error ? error.message : String(error);
            if (wasReady !== false)
                log.warn({ detail, cause: reasonOf(error instanceof Error ? error.cause : undefined) }, "not ready");
            wasReady = false;
            return notReady(detail);
        }
        if (wasReady !== true) log.info("ready");
        wasReady = true;
        return context.json({ status: "UP" });
    });
}
