/** Says that a time limit expired. */
export const lateError = (limitMs: number) => new Error(`no result within ${limitMs} ms`);

/**
 * Waits for a promise, up to a limit. The work behind it is not ended: that is up to the caller.
 *
 * @param limitMs milliseconds
 * @throws Error after the limit
 */
export function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(lateError(limitMs)), limitMs);
        work.then(resolve, reject).finally(() => clearTimeout(timer));
    });
}
