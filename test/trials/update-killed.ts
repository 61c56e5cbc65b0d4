import { setTimeout as sleep } from "node:timers/promises";
import type { Course } from "./kind";
import { between } from "./random";
import { leftoverMs, windowOf, withoutLease } from "./shop";

/** Room for the longest window and for the proof of a fault. */
const usualDeadlineSeconds = 25;
/** What an update takes besides the check's window, in milliseconds. */
const updateMs = 7_000;

/**
 * Kills an update with all its processes at a random moment. In odd rounds the next update ends the attack, after
 * `pulumi cancel`; in even rounds its deadline does, without help.
 */
export const updateKilled: Course = async (shop, kind, { random, round, denied, signal }) => {
    const { stack } = shop;
    const { graceMs, durationMs } = windowOf(kind.shape);
    const afterMs = between(random, 0, updateMs + graceMs + durationMs);
    const byDeadline = round % 2 === 0;
    const problems: string[] = [];
    let ended = false;

    const { experiment, settings, deadlineSeconds = usualDeadlineSeconds } = kind;
    const run = { experiment, settings, deadline: `${deadlineSeconds}s` };
    stack.set(shop.enabling(`${kind.name} ${denied} ${round}`, run));
    const update = stack.begin();
    void update.ended.then(() => (ended = true));
    try {
        await Promise.race([update.ended, sleep(afterMs, undefined, { signal })]);
    } finally {
        // It may have ended by itself a moment ago.
        if (!ended) await update.kill().catch(() => undefined);
    }
    try {
        if (byDeadline && !signal.aborted) {
            const left = await shop.attackLeft(deadlineSeconds * 1_000 + leftoverMs);
            if (left.length > 0) problems.push(`5 s after its deadline, the attack has not ended: ${left.join(", ")}`);
            problems.push(...(await shop.brokenBecause()));
        }
    } finally {
        // An update that was killed early has no lock to release.
        await stack.cancel().catch(() => undefined);
        problems.push(...(await shop.disable()));
    }
    const leftovers = withoutLease(await shop.leftovers());
    problems.push(...(await shop.brokenBecause()));
    const seconds = (afterMs / 1_000).toFixed(1);
    const saw = `killed after ${seconds} s, undone by ${byDeadline ? "its deadline" : "the next update"}`;
    return { outcome: "none", reason: "", saw, problems, leftovers, journals: [] };
};
