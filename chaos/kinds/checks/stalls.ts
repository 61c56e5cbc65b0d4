/**
 * When this process did not run: its machine was busy or asleep, or somebody had stopped the process. What comes
 * meanwhile, such as an answer, is read only afterwards, so a stall looks like a slow application. A timer shows it.
 */

/** How often the timer is due, in milliseconds. */
const tickMs = 10;

/**
 * A request that is sent so late, or a timer, is in time, in milliseconds: timers are exact to one or two, and garbage
 * collection or the parsing of an answer takes a few.
 */
export const jitterMs = 10;

/** In milliseconds of `performance.now()`, the last one last. */
const stalls: { from: number; to: number }[] = [];
let tickedAt = 0;
let watching = 0;
let timer: NodeJS.Timeout | undefined;

/** The first to run after a stall may be what reads an answer, not the timer. */
function note(): number {
    const now = performance.now();
    if (watching > 0 && now - tickedAt > tickMs + jitterMs) {
        stalls.push({ from: tickedAt, to: now });
        tickedAt = now;
    }
    return now;
}

/** Begins to note stalls. @returns a function that ends it */
export function watchStalls(): () => void {
    if (watching++ === 0) {
        tickedAt = performance.now();
        timer = setInterval(() => (tickedAt = note()), tickMs).unref();
    }
    return () => {
        if (--watching > 0) return;
        clearInterval(timer);
        stalls.length = 0;
    };
}

/**
 * For how long this process did not run in a time that was watched, in milliseconds: at most, since the timer shows it
 * to `tickMs`. Stalls of no more than `jitterMs` are left out.
 */
export function stalledBetween(from: number, to = Infinity): { totalMs: number; longestMs: number } {
    note();
    const found = { totalMs: 0, longestMs: 0 };
    for (let index = stalls.length - 1; index >= 0 && stalls[index]!.to > from; index--) {
        const ms = Math.max(0, Math.min(to, stalls[index]!.to) - Math.max(from, stalls[index]!.from));
        found.totalMs += ms;
        found.longestMs = Math.max(found.longestMs, ms);
    }
    return found;
}

/**
 * Calls back when this process has run for some time, in milliseconds: after a stall, it gets the time that it did not
 * have. Stalls must be watched meanwhile.
 * @param mostMs the longest time that is added
 * @param call is told whether the process has run for the whole time
 * @returns a function that cancels it
 */
export function afterRunning(ms: number, mostMs: number, call: (isWhole: boolean) => void): () => void {
    const begun = performance.now();
    const look = () => {
        const passedMs = performance.now() - begun;
        const lackingMs = ms + stalledBetween(begun).totalMs - passedMs;
        const leftMs = Math.min(lackingMs, ms + mostMs - passedMs);
        if (leftMs <= 0) call(lackingMs <= 0);
        else waiting = setTimeout(look, Math.ceil(leftMs));
    };
    let waiting = setTimeout(look, ms);
    return () => clearTimeout(waiting);
}
