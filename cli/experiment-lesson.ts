import type { Conclusion } from "../chaos/report/conclusion";
import {
    describeExpected,
    differenceFrom,
    type Expectation,
    isInEffect,
    lessons,
    type Story,
} from "../experiments/story";
import { describeRemedy } from "./experiment-list";

/**
 * What a run teaches, for its end: what was expected, and what makes the difference. Tells nobody to do what this run
 * has, and does not let an expectation for an unchanged shop look like one for this run.
 *
 * @param expected of this run
 * @param setting a setting's text in this run. Undefined if it is not set
 */
export function lessonLines(
    { lesson, remedy }: Story,
    expected: Expectation,
    ended: Pick<Conclusion, "verdict" | "checks">,
    setting: (key: string) => string | undefined,
): string[] {
    const isRemedied = isInEffect(remedy, setting);
    const differs = differenceFrom(expected, ended) !== undefined;
    const condition = isRemedied
        ? " with the remedy"
        : differs
          ? " with the default settings and unchanged sources"
          : "";
    const told = `${lessons[lesson]}. Expected: ${describeExpected(expected)}${condition}`;
    // What passes needs no remedy: its reader has found one in the sources, say.
    if (differs && ended.verdict === "PASSED") return [`  Lesson         ${told}`];
    return [`  Lesson         ${told}`, `  Remedy         ${describeRemedy(remedy, { isInEffect: isRemedied })}`];
}
