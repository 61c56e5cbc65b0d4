import { styleText } from "node:util";

/** Something that is measured, and the bar it is held to. */
export interface Figure {
    name: string;
    /** What is measured, in a sentence. */
    meaning: string;
    /** The most that the measured value may be, in `unit`. */
    bar: number;
    unit: Unit;
    measure(): Promise<Measurement>;
}

/** `ratio` has no dimension; `s` is seconds; `MB` is 10^6 bytes. */
export type Unit = "ratio" | "s" | "MB";

export interface Measurement {
    /** In the figure's unit. */
    value: number;
    /** What the value was made of, for people. */
    made: string;
    /** The same for programs: samples by name, in seconds or MB. */
    samples: Record<string, number[]>;
}

/** A figure that was measured and judged, or could not be measured. */
export type Result = Pick<Figure, "name" | "meaning" | "bar" | "unit"> &
    (({ holds: boolean } & Measurement) | { holds: false; problem: string });

/** Holds a measurement against the figure's bar. A value at the bar holds; one that is no number does not. */
export function judge({ name, meaning, bar, unit }: Figure, measurement: Measurement): Result {
    return { name, meaning, bar, unit, holds: measurement.value <= bar, ...measurement };
}

/** The middle of the samples, or the mean of the two in the middle. */
export function median(samples: readonly number[]): number {
    if (samples.length === 0) throw new Error("there is no median of no samples");
    const sorted = [...samples].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Median against median. */
export function ratio(ours: readonly number[], theirs: readonly number[]): number {
    const base = median(theirs);
    if (!(base > 0)) throw new Error(`nothing can be compared with ${base}`);
    return median(ours) / base;
}

/** `12.3 s`, `1.28 times`, `82 MB`. */
export function describe(value: number, unit: Unit): string {
    switch (unit) {
        case "ratio":
            return `${value.toFixed(2)} times`;
        case "s":
            return `${value.toFixed(2)} s`;
        case "MB":
            return `${value.toFixed(0)} MB`;
    }
}

/** The median and what it is the median of: `9.1 s (8.9, 9.1, 9.6)`. */
export function describeSamples(samples: readonly number[], unit: Unit = "s"): string {
    return `${describe(median(samples), unit)} (${samples.map((sample) => sample.toFixed(2)).join(", ")})`;
}

/** A result as two lines for people. */
export function describeResult(result: Result): string {
    const sign = result.holds ? styleText("green", "✔ holds") : styleText("red", "✘ fails");
    const bar = `at most ${describe(result.bar, result.unit)}`;
    const measured =
        "problem" in result
            ? `not measured: ${result.problem}`
            : `${describe(result.value, result.unit)}: ${result.made}`;
    return `${sign}  ${styleText("bold", result.name.padEnd(18))} ${result.meaning}, ${bar}\n         ${measured}`;
}
