import { problemOf } from "../cluster/problem";

/** The values of steps that all were tried. @throws Error with everything that failed */
export function valuesOf<T>(results: readonly PromiseSettledResult<T>[]): T[] {
    const failures = results.filter((result) => result.status === "rejected").map(({ reason }): unknown => reason);
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1) throw new AggregateError(failures, failures.map(problemOf).join("; "));
    return results.map((result) => (result as PromiseFulfilledResult<T>).value);
}
