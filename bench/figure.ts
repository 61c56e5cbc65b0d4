import { styleText } from "node:util";
import type { Session } from "./session";

/** Something to measure, and its limit. */
export interface Figure {
    name: string;
    meaning: string;
    /** The highest allowed value, in `unit`. */
    bar: number;
    /** Of the value, and of its samples. Those of a ratio are seconds. */
    unit: Unit;
    measure: (session: Session) => Promise<Measurement>;
}

/** `ratio` has no dimension; `s` is seconds, `ms` milliseconds. */
export type Unit = "ratio" | "s" | "ms" | "MiB";

export type Samples<Name extends string = string> = Record<Name, number[]>;

export interface Measurement {
    /** In the figure's unit. */
    value: number;
    samples: Samples;
}

/** A figure's measurement, or why it could not be measured. */
export type Result = Omit<Figure, "measure"> & (({ holds: boolean } & Measurement) | { holds: false; problem: string });

/** Compares a measurement with the figure's limit. A value at the limit holds, NaN does not. */
export function judge({ measure: _, ...figure }: Figure, measurement: Measurement): Result {
    return { ...figure, holds: measurement.value <= figure.bar, ...measurement };
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
 * @returns the results of all rounds, by name
 */
export async function measureRounds<Name extends string>(
    rounds: number,
    { say }: Pick<Session, "say">,
    measureRound: () => Promise<Record<Name, number>>,
): Promise<Samples<Name>> {
    const results: Record<Name, number>[] = [];
    for (let round = 1; round <= rounds; round++) {
        const result = await measureRound();
        const values = Object.entries<number>(result).map(([name, value]) => `${name} ${value.toFixed(2)}`);
        say(`round ${round} of ${rounds}: ${values.join(", ")}`);
        results.push(result);
    }
    const names = Object.keys(results[0]!) as Name[];
    const samples = names.map((name) => [name, results.map((result) => result[name])]);
    return Object.fromEntries(samples) as Samples<Name>;
}

export function ratio(ours: readonly number[], theirs: readonly number[]): number {
    const base = median(theirs);
    if (!(base > 0)) throw new Error(`nothing can be compared with ${base}`);
    return median(ours) / base;
}

/** `12.30 s`, `1.28 times`. */
function describe(value: number, unit: Unit): string {
    return `${value.toFixed(2)} ${unit === "ratio" ? "times" : unit}`;
}

/** A result in two lines. */
export function describeResult(result: Result): string {
    const sign = result.holds ? styleText("green", "✔ holds") : styleText("red", "✘ fails");
    const name = styleText("bold", result.name.padEnd(18));
    const bar = describe(result.bar, result.unit);
    return `${sign}  ${name} ${result.meaning}, at most ${bar}\n         ${measured(result)}`;
}

/** The value, and of each name the median and the samples: `enable 9.10 s (8.90, 9.10, 9.60)`. */
function measured(result: Result): string {
    if ("problem" in result) return `not measured: ${result.problem}`;
    const unit = result.unit === "ratio" ? "s" : result.unit;
    const samples = Object.entries(result.samples).map(([name, values]) => {
        const each = values.map((sample) => sample.toFixed(2)).join(", ");
        return `${name} ${describe(median(values), unit)} (${each})`;
    });
    return `${describe(result.value, result.unit)}: ${samples.join(", ")}`;
}
