import type { Conclusion } from "../chaos/report/conclusion";
import { settings } from "../components/configuration/settings";
import { type NamedExperiment, savedExperiments } from "../experiments/saved";
import {
    describeExpected,
    differenceFrom,
    type Expectation,
    isInEffect,
    type Lesson,
    lessons,
    type Remedy,
    type Story,
    verdictOf,
} from "../experiments/story";

export interface LessonGroup {
    /** Undefined for those that belong to none. */
    lesson?: Lesson;
    experiments: NamedExperiment[];
}

/**
 * Groups experiments by what they teach, in the order of reading. Those that belong to no lesson come last.
 *
 * @param only these lessons. @default all, and experiments without a lesson
 */
export function groupedByLesson(experiments: readonly NamedExperiment[], only: readonly Lesson[] = []): LessonGroup[] {
    const keys = only.length > 0 ? only : [...(Object.keys(lessons) as Lesson[]), undefined];
    return keys
        .map((lesson) => ({ lesson, experiments: experiments.filter(({ story }) => story?.lesson === lesson) }))
        .filter((group) => group.experiments.length > 0);
}

/** The saved experiments by lesson, for people: hypothesis, expected verdict and remedy of each. */
export function listOf(groups: readonly LessonGroup[]): string {
    return groups
        .map(({ lesson, experiments }) => [headOf(lesson), ...experiments.map(entryOf)].join("\n\n"))
        .join("\n\n");
}

const headOf = (lesson: Lesson | undefined) =>
    lesson === undefined ? "Other experiments" : `${lessons[lesson]} (--lesson ${lesson})`;

function entryOf({ name, hypothesis, variant, story }: NamedExperiment): string {
    const lines = [`${name}${variant === undefined ? "" : ` (variant ${variant})`}`, `  ${hypothesis}`];
    if (story !== undefined)
        lines.push(`  Expected: ${describeExpected(story)}. Remedy: ${describeRemedy(story.remedy)}`);
    return lines.map((line) => `  ${line}`).join("\n");
}

/** A remedy in a sentence, and how to try it, unless its settings are in effect. */
function describeRemedy(remedy?: Remedy, { isInEffect = false } = {}): string {
    if (remedy === undefined) return "none in this shop.";
    const settings = Object.entries(remedy.settings ?? {}).map(([key, value]) => `--set ${key}=${value}`);
    const ways = [
        ...(settings.length > 0 && !isInEffect ? [`Try: ${settings.join(" ")}`] : []),
        ...(remedy.compare === undefined ? [] : [`Compare: ${remedy.compare}`]),
    ];
    return [...(isInEffect ? ["In effect:"] : []), remedy.what, ...ways].join(" ");
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
