import { styleText } from "node:util";
import type { Session } from "./session";

/** Something to measure, and its limit. */
export interface Figure {
    name: string;
    meaning: string;
    /** The highest allowed value, in `unit`. @default none: the figure is only reported */
    bar?: number;
    unit: Unit;
    measure: (session: Session) => Promise<Measurement>;
}

/** `ratio` has no dimension; `s` is seconds, `ms` milliseconds; `MB` is 10^6 bytes. */
export type Unit = "ratio" | "s" | "ms" | "MB";

export interface Measurement {
    /** In the figure's unit. */
    value: number;
    /** The samples behind the value, as text. */
    made: string;
    /** The samples by name, in seconds, milliseconds or MB. */
    samples: Record<string, number[]>;
}

/** A figure's measurement, or why it could not be measured. */
export type Result = Omit<Figure, "measure"> & (({ holds: boolean } & Measurement) | { holds: false; problem: string });

/** Compares a measurement with the figure's limit. A value at the limit holds, NaN does not. */
export function judge({ measure: _, ...figure }: Figure, measurement: Measurement): Result {
    return { ...figure, holds: measurement.value <= (figure.bar ?? Infinity), ...measurement };
}

export function median(samples: readonly number[]): number {
    if (samples.length === 0) throw new Error("there is no median of no samples");
    const sorted = [...samples].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Measures in rounds, and prints the result of each.
 *
 * @param describe the result of a round in words
 * @returns the results of all rounds, by name
 */
export async function measureRounds<Name extends string>(
    rounds: number,
    { say }: Pick<Session, "say">,
    measureRound: () => Promise<Record<Name, number>>,
    describe: (result: Record<Name, number>) => string,
): Promise<Record<Name, number[]>> {
    const results: Record<Name, number>[] = [];
    for (let round = 1; round <= rounds; round++) {
        const result = await measureRound();
        say(`round ${round} of ${rounds}: ${describe(result)}`);
        results.push(result);
    }
    const names = Object.keys(results[0]!) as Name[];
    const samples = names.map((name) => [name, results.map((result) => result[name])]);
    return Object.fromEntries(samples) as Record<Name, number[]>;
}

/** The ratio of two medians. */
export function ratio(ours: readonly number[], theirs: readonly number[]): number {
    const base = median(theirs);
    if (!(base > 0)) throw new Error(`nothing can be compared with ${base}`);
    return median(ours) / base;
}

/** `12.3 s`, `0.25 ms`, `1.28 times`, `82 MB`. */
function describe(value: number, unit: Unit): string {
    switch (unit) {
        case "ratio":
            return `${value.toFixed(2)} times`;
        case "s":
            return `${value.toFixed(2)} s`;
        case "ms":
            return `${value.toFixed(2)} ms`;
        case "MB":
            return `${value.toFixed(0)} MB`;
    }
}

/** The median of times in seconds, and the times: `9.1 s (8.9, 9.1, 9.6)`. */
export function describeSamples(samples: readonly number[]): string {
    return `${describe(median(samples), "s")} (${samples.map((sample) => sample.toFixed(2)).join(", ")})`;
}

/** A result in two lines. */
export function describeResult(result: Result): string {
    const sign = result.holds ? styleText("green", "✔ holds") : styleText("red", "✘ fails");
    const bar = result.bar === undefined ? "no limit" : `at most ${describe(result.bar, result.unit)}`;
    const measured =
        "problem" in result
            ? `not measured: ${result.problem}`
            : `${describe(result.value, result.unit)}: ${result.made}`;
    return `${sign}  ${styleText("bold", result.name.padEnd(18))} ${result.meaning}, ${bar}\n         ${measured}`;
}
