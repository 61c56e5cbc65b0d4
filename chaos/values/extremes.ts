/** As `Math.max(...values)`, which fails with about 120,000 values: a long run has more answers. */
export const greatestOf = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), -Infinity);

/** As `Math.min(...values)`, of any number of values. */
export const leastOf = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b), Infinity);
