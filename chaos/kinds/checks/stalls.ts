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

/** So many stalls are known at most: more than there can be within the longest request. A load is sent for hours. */
const mostStalls = 10_000;

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
        if (stalls.length > mostStalls) stalls.splice(0, mostStalls / 2);
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
 * An exchange waits for this process so often at most: to connect after the name is known, to begin TLS, to send the
 * request, and to read the head and the body. So it suffers only from so many stalls: many short ones, as on a busy
 * machine, hardly delay it.
 */
const waits = 5;

/**
 * By how much this process may have delayed an exchange in a time that was watched, in milliseconds: at most, since the
 * timer shows stalls to `tickMs`. Those of no more than `jitterMs` are left out.
 */
export function stalledBetween(from: number, to = Infinity): { delayMs: number; longestMs: number } {
    note();
    const found: number[] = [];
    for (let index = stalls.length - 1; index >= 0 && stalls[index]!.to > from; index--)
        found.push(Math.min(to, stalls[index]!.to) - Math.max(from, stalls[index]!.from));
    const longest = found
        .filter((ms) => ms > 0)
        .sort((a, b) => b - a)
        .slice(0, waits);
    return { delayMs: longest.reduce((sum, ms) => sum + ms, 0), longestMs: longest[0] ?? 0 };
}

/**
 * Calls back after some time, in milliseconds, and as much more as this process may have delayed an exchange. Stalls
 * must be watched meanwhile.
 * @param mostMs the longest time that is added
 * @param call is told whether all of it was added
 * @returns a function that cancels it
 */
export function afterRunning(ms: number, mostMs: number, call: (isWhole: boolean) => void): () => void {
    const begun = performance.now();
    const look = () => {
        const passedMs = performance.now() - begun;
        const lackingMs = ms + stalledBetween(begun).delayMs - passedMs;
        const leftMs = Math.min(lackingMs, ms + mostMs - passedMs);
        if (leftMs <= 0) call(lackingMs <= 0);
        else waiting = setTimeout(look, Math.ceil(leftMs));
    };
    let waiting = setTimeout(look, ms);
    return () => clearTimeout(waiting);
}
