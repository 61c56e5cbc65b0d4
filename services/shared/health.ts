import { networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Hono } from "hono";
import { type Log, reasonOf } from "./log";
import { problemResponse, problemType } from "./problem";

/** What a readiness check must answer within, in milliseconds: less than the 1 s a kubelet waits by default. */
export const READINESS_TIMEOUT_MS = 800;

/**
 * How often each program's moment to check comes, in milliseconds: whoever is ready waits for it, no longer than this. With
 * the check's own limit that stays below the 2 s that the shop's probes wait.
 */
const MOMENTS_APART_MS = 500;

/** The fractional parts of its multiples lie evenly apart, however many there are. */
const GOLDEN_RATIO = 0.618;

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
 *
 * @param address the program's, which says at which moments it checks @default the first that is not the loopback's
 */
export function serveHealth(application: Hono, log: Log, check: () => Promise<void>, address = ownAddress()): void {
    application.get("/health/liveness", (context) => context.json({ status: "UP" }));

    let wasReady: boolean | undefined;
    application.get("/health/readiness", async (context) => {
        if (wasReady) await sleep(msToMoment(address, Date.now()));
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

function ownAddress(): string {
    const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
    return addresses.find(({ internal }) => !internal)?.address ?? "127.0.0.1";
}

/**
 * How long it is until a program's own moment to check, in milliseconds.
 *
 * The pods of one update start together, so a kubelet asks them at the same moment of each second, and if all checked at
 * once they would hold up whoever is served then, each second anew. The pods of a node have different addresses, mostly one
 * after the other, of which each gets a moment well apart from those of its neighbours.
 *
 * @param address the program's, IPv4 or IPv6
 * @param now milliseconds since the epoch, by which all pods of a node agree
 */
export function msToMoment(address: string, now: number): number {
    const last = address.split(/[.:]/).at(-1)!;
    const number = Number.parseInt(last || "0", address.includes(":") ? 16 : 10);
    const moment = ((number * GOLDEN_RATIO) % 1) * MOMENTS_APART_MS;
    return (moment - (now % MOMENTS_APART_MS) + MOMENTS_APART_MS) % MOMENTS_APART_MS;
}
