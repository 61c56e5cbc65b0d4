/** A time limit ran out. */
export class TimeLimitError extends Error {
    constructor(limitMs: number) {
        super(`nothing came within ${limitMs} ms`);
        this.name = "TimeLimitError";
    }
}

/**
 * Waits for work, but no longer than a limit.
 *
 * @param limitMs milliseconds
 * @param work what is waited for; it goes on after the limit, so whoever calls this ends it
 * @throws TimeLimitError when the limit ran out first, else whatever the work throws
 */
export function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new TimeLimitError(limitMs)), limitMs);
        work.then(resolve, reject).finally(() => clearTimeout(timer));
    });
}
