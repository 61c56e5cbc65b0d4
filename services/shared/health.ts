import { networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Hono } from "hono";
import { type Log, reasonOf } from "./log";
import { notReady } from "./problem";

/** Time limit of a readiness check, in milliseconds: less than the 1 s that a kubelet waits by default. */
export const READINESS_TIMEOUT_MS = 800;

/**
 * The period of each pod's slot for its readiness check, in milliseconds. A pod that is ready waits for its slot. The
 * wait and the check's time limit together stay below the 2 s timeout of the shop's probes.
 */
const SLOT_PERIOD_MS = 500;

/** The fractional parts of its multiples are spread evenly, however many there are. */
const GOLDEN_RATIO = 0.618;

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
 *
 * @param address the pod's IP address, which determines its slot @default the first that is not a loopback address
 */
export function serveHealth(application: Hono, log: Log, check: () => Promise<void>, address = ownAddress()): void {
    application.get("/health/liveness", (context) => context.json({ status: "UP" }));

    let wasReady: boolean | undefined;
    application.get("/health/readiness", async (context) => {
        if (wasReady) await sleep(msToSlot(address, Date.now()));
        try {
            await check();
        } catch (error) {
            const detail = error instanceof Error ? error.message : String(error);
            if (wasReady !== false) {
                log.warn({ detail, cause: reasonOf(error instanceof Error ? error.cause : undefined) }, "not ready");
            }
            wasReady = false;
            return notReady(detail);
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
 * Milliseconds until a pod's next slot for its readiness check.
 *
 * Per-second work is staggered: the pods of one update start together, so a kubelet probes them at the same moment of
 * each second, and simultaneous checks would delay the requests of that moment. The pods of a node have different,
 * mostly consecutive addresses. Consecutive addresses get slots that are well apart.
 *
 * @param address IPv4 or IPv6
 * @param now milliseconds since the epoch, the same for all pods of a node
 */
export function msToSlot(address: string, now: number): number {
    const last = address.split(/[.:]/).at(-1)!;
    const number = Number.parseInt(last || "0", address.includes(":") ? 16 : 10);
    const slot = ((number * GOLDEN_RATIO) % 1) * SLOT_PERIOD_MS;
    return (slot - (now % SLOT_PERIOD_MS) + SLOT_PERIOD_MS) % SLOT_PERIOD_MS;
}
