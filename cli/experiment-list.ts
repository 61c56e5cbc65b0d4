import { checkName } from "../chaos/kinds/checks/registry";
import type { Conclusion } from "../chaos/report/conclusion";
import { settings } from "../components/configuration/settings";
import { groupedByLesson, type LessonGroup, type NamedExperiment, savedExperiments } from "../experiments/saved";
import {
    describeExpected,
    differenceFrom,
    type Expectation,
    isInEffect,
    type Lesson,
    lessons,
    optionsOf,
    type Remedy,
    type Story,
    verdictOf,
} from "../experiments/story";

/** The saved experiments by lesson, for people: hypothesis, expected verdict and remedy of each. */
export function listOf(groups: readonly LessonGroup[]): string {
    return groups
        .map(({ lesson, experiments }) => [headOf(lesson), ...experiments.map(entryOf)].join("\n\n"))
        .join("\n\n");
}

const headOf = (lesson: Lesson | undefined) =>
    lesson === undefined ? "Other experiments" : `${lessons[lesson]} (--lesson ${lesson})`;

function entryOf({ name, hypothesis, begin, variant, story }: NamedExperiment): string {
    const lines = [`${name}${variant === undefined ? "" : ` (variant ${variant})`}`, `  ${hypothesis}`];
    if (begin !== undefined) lines.push(`  Waits for ${checkName(begin.when)}`);
    if (story !== undefined)
        lines.push(`  Expected: ${describeExpected(story)}. Remedy: ${describeRemedy(story.remedy)}`);
    return lines.map((line) => `  ${line}`).join("\n");
}

/** A remedy in a sentence, and how to try it, unless its settings are in effect. */
function describeRemedy(remedy?: Remedy, { isInEffect = false } = {}): string {
    if (remedy === undefined) return "none in this shop.";
    const { what, compare } = remedy;
    const options = optionsOf(remedy);
    const parts = [
        isInEffect && "In effect:",
        what,
        options && !isInEffect && `Try: ${options}`,
        compare && `Compare: ${compare}`,
    ];
    return parts.filter(Boolean).join(" ");
}

/** The same as data, for `--json`. Verdicts are those in a shop with default settings. */
export function listAsData(groups: readonly LessonGroup[]) {
    return groups.flatMap(({ experiments }) =>
        experiments.map(({ name, hypothesis, variant, story }) => ({
            name,
            hypothesis,
            variant,
            ...(story && { ...story, expected: verdictOf(story) }),
        })),
    );
}

/** Prints the saved experiments. @param lessons only these. @default all */
export function printList(
    { json, lessons }: { json: boolean; lessons: Lesson[] },
    print: (text: string) => void,
): void {
    const groups = groupedByLesson(savedExperiments(), lessons);
    print(json ? JSON.stringify(listAsData(groups), undefined, 2) : listOf(groups));
}

/** The saved experiments that run on a variant. */
export const fitting = (variant: string = settings.variant.default): NamedExperiment[] =>
    savedExperiments().filter((saved) => saved.variant === undefined || saved.variant === variant);

/**
 * Those that can be run one after the other: not if somebody must bring about what an experiment waits for.
 *
 * @param only of these lessons. Of all if it is empty
 */
export const runnableInTurn = (saved: readonly NamedExperiment[], only: readonly Lesson[]): NamedExperiment[] =>
    saved
        .filter(({ begin }) => begin === undefined)
        .filter(({ story }) => only.length === 0 || (story !== undefined && only.includes(story.lesson)));

/**
 * What a run teaches, for its end: what was expected, and what makes the difference. A remedy that this run has is not
 * recommended again, and an expectation for an unchanged shop is named as such.
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
    const line = `${lessons[lesson]}. Expected: ${describeExpected(expected)}${condition}`;
    // What passes needs no remedy: its reader has found one in the sources, say.
    if (differs && ended.verdict === "PASSED") return [`  Lesson         ${line}`];
    return [`  Lesson         ${line}`, `  Remedy         ${describeRemedy(remedy, { isInEffect: isRemedied })}`];
}
