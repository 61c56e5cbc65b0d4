import { setTimeout as sleep } from "node:timers/promises";
import type { Hono } from "hono";
import { type Log, reasonOf } from "./log";
import { problemResponse, problemType } from "./problem";

/** What a readiness check must answer within, in milliseconds: less than the 1 s a kubelet waits by default. */
export const READINESS_TIMEOUT_MS = 800;

/**
 * How long a program that is ready waits at most before it checks, in milliseconds. The pods of one update start together,
 * so a kubelet asks them all at the same moment of each second, and all at once their checks would hold up whoever is
 * served then. With the check's own limit it stays below the 2 s that the shop's probes wait.
 */
const LONGEST_PAUSE_MS = 500;

/**
 * Adds `/health/liveness` and `/health/readiness`.
 *
 * Liveness says that the process answers, and depends on nobody: a kubelet restarts what is not alive, and a restart
 * mends no other program's outage.
 *
 * Readiness takes a pod out of its Services. The kubelet's own request proves nothing about the network: the
 * NetworkPolicy specification exempts traffic between a pod and the node it runs on, so probes go on reaching a pod
 * that is cut off from everybody else. Nor does an established connection prove anything, since a new policy may let
 * it live (the specification leaves that open; kube-router, Calico and Antrea do). So each probe must open a fresh
 * connection outwards; `check` does, and throws an error whose message a client may read when there is none.
 */
export function serveHealth(application: Hono, log: Log, check: () => Promise<void>): void {
    application.get("/health/liveness", (context) => context.json({ status: "UP" }));

    const pauseMs = Math.random() * LONGEST_PAUSE_MS;
    let wasReady: boolean | undefined;
    application.get("/health/readiness", async (context) => {
        if (wasReady) await sleep(pauseMs);
        try {
            await check();
        } catch (error) {
            const detail = error instanceof Error ? error.message : String(error);
            if (wasReady !== false) {
                log.warn({ detail, cause: reasonOf(error instanceof Error ? error.cause : undefined) }, "not ready");
            }
            wasReady = false;
            return problemResponse({ type: problemType("not-ready"), title: "Not ready", status: 503, detail });
        }
        if (wasReady !== true) {
            log.info("ready");
        }
        wasReady = true;
        return context.json({ status: "UP" });
    });
}
