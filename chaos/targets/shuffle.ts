import { randomInt } from "node:crypto";

/** The items in random order (Fisher-Yates). */
export function shuffled<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let last = result.length - 1; last > 0; last--) {
        const other = randomInt(last + 1);
        [result[last], result[other]] = [result[other]!, result[last]!];
    }
    return result;
}
