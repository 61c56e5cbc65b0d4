import { setTimeout as sleep } from "node:timers/promises";

/**
 * Does something with each item, with at most `limit` of them at a time.
 * @throws what the first has thrown, once no other is under way: nothing may be done after the caller has begun to undo
 */
export async function inTurns<T, R>(items: readonly T[], limit: number, work: (item: T) => Promise<R>): Promise<R[]> {
    const results = new Array<R>(items.length);
    const failures: unknown[] = [];
    let next = 0;
    const worker = async () => {
        while (next < items.length && failures.length === 0) {
            const index = next++;
            await work(items[index]!).then(
                (result) => (results[index] = result),
                (error: unknown) => failures.push(error),
            );
        }
    };
    await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
    if (failures.length > 0) throw failures[0];
    return results;
}

export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
    // Only the signal makes it reject.
    await sleep(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
}

/** Waits for something, but at most for a time. @throws what that throws in this time */
export async function within(timeoutMs: number, something: Promise<unknown>): Promise<void> {
    const timeout = new AbortController();
    try {
        await Promise.race([something, pause(timeoutMs, timeout.signal)]);
    } finally {
        timeout.abort();
    }
}

const pollMs = 50;

/** Looks repeatedly until what it sees is enough, or until a time has passed. @returns what it saw last */
export async function poll<T>(
    look: () => Promise<T>,
    isEnough: (seen: T) => boolean,
    timeoutMs: number,
    pauseMs = pollMs,
): Promise<T> {
    // The time of day may be set back.
    for (const giveUpAt = performance.now() + timeoutMs; ; await sleep(pauseMs)) {
        const seen = await look();
        if (isEnough(seen) || performance.now() > giveUpAt) return seen;
    }
}

/** Lets one at a time do something, in the order in which they ask. */
export class Mutex {
    private last: Promise<unknown> = Promise.resolve();

    /** Waits for its turn. @returns a function that ends the turn */
    async acquire(): Promise<() => void> {
        const before = this.last;
        let done!: () => void;
        this.last = new Promise<void>((resolve) => (done = resolve));
        await before;
        return done;
    }
}

/** The awaiting calls of `settling`, the innermost last. */
const awaited: ((error: Error) => void)[] = [];

function giveUpInnermost(): void {
    // Node.js looks again after it, because what undoes this work may wait forever, too.
    setImmediate(() => undefined);
    awaited.at(-1)?.(
        new Error(
            "the program ended without a result: nothing is left that could bring what it waits for. That is a " +
                "mistake of this package. What it was to find out is not known, and nothing that rests on it begins",
        ),
    );
}

/**
 * Rejects if nothing is left that could settle some work: Node.js would end the program then in the middle, with exit
 * code 0. Of works that await each other, the innermost rejects, so that what it has done can be undone.
 */
export async function settling<T>(work: () => Promise<T>): Promise<T> {
    if (awaited.length === 0) process.on("beforeExit", giveUpInnermost);
    let giveUp!: (error: Error) => void;
    const lost = new Promise<never>((_, reject) => awaited.push((giveUp = reject)));
    try {
        return await Promise.race([work(), lost]);
    } finally {
        awaited.splice(awaited.indexOf(giveUp), 1);
        if (awaited.length === 0) process.off("beforeExit", giveUpInnermost);
    }
}
