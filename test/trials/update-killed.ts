import { setTimeout as sleep } from "node:timers/promises";
import { labels } from "../../chaos/cluster/labels";
import type { TestStack } from "../e2e/shop/support";
import { until } from "../support/until";
import type { Course } from "./kind";
import { between } from "./random";
import { leftoverMs, provenForMs, type Window, windowOf, withoutLease } from "./shop";

/** Room for the longest window and for the proof of a fault. */
const usualDeadlineSeconds = 25;
/** What an update takes besides the check's window, in milliseconds. */
const updateMs = 7_000;
/** How long a load is sent at least before the attack begins, in milliseconds. */
const loadBeforeMs = 5_000;

/** What must be on when an update is killed. */
export interface Once {
    /** For errors: `the attack was proven`. */
    what: string;
    /** @param printed by the update */
    isOn: (stack: TestStack, printed: string) => Promise<boolean> | boolean;
    /** How long it is on at least before the update ends, in milliseconds. */
    lastsMs: (window: Window) => number;
}

export const attackProven: Once = {
    what: "the attack was proven",
    isOn: (_, printed) => printed.includes("Proven: "),
    lastsMs: ({ graceMs, durationMs }) => graceMs + durationMs - provenForMs,
};

export const loadSent: Once = {
    what: "the pod that sends the load ran",
    async isOn({ cluster, namespace }) {
        const { items } = await cluster.core.listNamespacedPod({ namespace, labelSelector: labels.beside });
        return items.some(({ status }) => status?.phase === "Running");
    },
    lastsMs: ({ graceMs, durationMs }) => loadBeforeMs + graceMs + durationMs,
};

/**
 * Kills an update with all its processes at a random moment. In odd rounds the next update ends the attack, after
 * `pulumi cancel`; in even rounds its deadline does, without help.
 *
 * @param once it is killed while this is on. @default at any moment
 */
export const updateKilled =
    (once?: Once): Course =>
    async (shop, kind, trial) => {
        const { random, round, denied, signal } = trial;
        const { stack } = shop;
        const { experiment, settings, deadlineSeconds = usualDeadlineSeconds } = kind;
        const window = windowOf(kind);
        const afterMs = between(random, 0, once?.lastsMs(window) ?? updateMs + window.graceMs + window.durationMs);
        const byDeadline = round % 2 === 0;
        const problems: string[] = [];
        const saw: string[] = [];
        const run = { experiment, settings, deadline: `${deadlineSeconds}s` };
        stack.set(shop.enabling(`${kind.name} ${denied} ${round}`, run));
        try {
            const ended = await endedBefore(stack, { once, afterMs, signal });
            const moment = `${(afterMs / 1_000).toFixed(1)} s after ${once?.what ?? "it began"}`;
            saw.push(`${ended ? "ended by itself within" : "killed"} ${moment}`);
            const on = await shop.attackLeft(0);
            saw.push(`on: ${on.join(" ") || "nothing"}`);
            if (once && ended) problems.push("the update ended before it was killed");
            if (once && on.length === 0) problems.push("nothing was on when the update was killed");
            if (byDeadline && !signal.aborted) {
                const left = await shop.attackLeft(deadlineSeconds * 1_000 + leftoverMs);
                if (left.length > 0)
                    problems.push(`5 s after its deadline, the attack has not ended: ${left.join(", ")}`);
                problems.push(...(await shop.brokenBecause()));
            }
        } finally {
            // An update that was killed early has no lock to release.
            await stack.cancel().catch(() => undefined);
            problems.push(...(await shop.disable()));
        }
        const leftovers = withoutLease(await shop.leftovers());
        problems.push(...(await shop.brokenBecause()));
        saw.push(`undone by ${byDeadline ? "its deadline" : "the next update"}`);
        return { outcome: "none", reason: "", saw: saw.join("; "), problems, leftovers, journals: [] };
    };

interface Killing {
    once?: Once;
    /** From when that is on, or from the beginning. */
    afterMs: number;
    signal: AbortSignal;
}

/** Begins an update and kills it. @returns whether it ended by itself before */
async function endedBefore(stack: TestStack, { once, afterMs, signal }: Killing): Promise<boolean> {
    let ended = false;
    const update = stack.begin();
    void update.ended.then(() => (ended = true));
    const isOn = () => {
        signal.throwIfAborted();
        if (ended) throw new Error(`the update ended before ${once!.what}: ${update.printed().slice(-1_000)}`);
        return once!.isOn(stack, update.printed());
    };
    try {
        if (once) await until(once.what, isOn, { timeoutMs: 180_000, pauseMs: 50 });
        await Promise.race([update.ended, sleep(afterMs, undefined, { signal })]);
        return ended;
    } finally {
        // It may have ended by itself a moment ago.
        if (!ended) await update.kill().catch(() => undefined);
    }
}
