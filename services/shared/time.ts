/** A time limit expired. */
export class TimeLimitError extends Error {
    constructor(limitMs: number) {
        super(`no result within ${limitMs} ms`);
        this.name = "TimeLimitError";
    }
}

/**
 * Waits for a promise, up to a limit. The work behind it is not ended: that is up to the caller.
 *
 * @param limitMs milliseconds
 * @throws TimeLimitError after the limit
 */
export function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new TimeLimitError(limitMs)), limitMs);
        work.then(resolve, reject).finally(() => clearTimeout(timer));
    });
}
