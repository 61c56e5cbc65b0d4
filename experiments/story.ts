import * as z from "zod";

/** What the saved experiments teach, in the order of reading. */
export const lessons = {
    gone: "A dependency is gone",
    slow: "A dependency is slow",
    flaky: "A dependency fails now and then",
    change: "Change under load",
    work: "Work is never lost",
    pods: "Pods are replaceable",
} as const;
export type Lesson = keyof typeof lessons;

/** What a saved experiment teaches, and what it is expected to show. */
export interface Story {
    /** `--list` and `--all --lesson` group by it. */
    lesson: Lesson;
    /** Names of the checks, and loads, that fail in a shop with default settings. @default none: PASSED */
    failing?: string[];
    /** Whether these checks may also hold: a request is lost only in an unlucky millisecond. @default false */
    mayPass?: boolean;
    /** What makes the difference. @default this shop has nothing */
    remedy?: Remedy;
}

/** What makes the difference between the two verdicts. Without `settings` and `compare`, it is in another check. */
export interface Remedy {
    /** In one sentence. */
    what: string;
    /** Settings with which all checks hold. */
    settings?: Record<string, string>;
    /** The saved experiment that has the other verdict: one of the two lacks the remedy. */
    compare?: string;
}

const sentence = z.string().trim().min(1);

export const storySchema = z.strictObject({
    lesson: z.enum(Object.keys(lessons) as [Lesson, ...Lesson[]]),
    failing: z.array(sentence).nonempty().optional(),
    mayPass: z.boolean().optional(),
    remedy: z
        .strictObject({
            what: sentence,
            settings: z.record(z.string(), z.string()).optional(),
            compare: sentence.optional(),
        })
        .optional(),
}) satisfies z.ZodType<Story>;

/** What a run should conclude. */
export interface Expectation {
    /** Names of the checks that should not hold. None: the verdict should be PASSED, otherwise FAILED. */
    failing: string[];
    mayPass: boolean;
}

export const verdictOf = ({ failing = [] }: Pick<Story, "failing">) => (failing.length === 0 ? "PASSED" : "FAILED");

/** The expected verdict, for people: `FAILED, rarely PASSED`. */
export const describeExpected = ({ failing, mayPass = false }: Pick<Story, "failing" | "mayPass">) =>
    `${verdictOf({ failing })}${mayPass ? ", rarely PASSED" : ""}`;

/**
 * What a run of a story should conclude in a shop with some settings.
 *
 * @param setting a setting's text. Undefined if it is not set
 * @param overrides the settings that make another experiment of it
 * @returns undefined if that is unknown: the settings change the experiment, or are not those of its remedy
 */
export function expectationOf(
    { failing = [], mayPass = false, remedy }: Story,
    setting: (key: string) => string | undefined,
    overrides: readonly string[],
): Expectation | undefined {
    if (overrides.some((key) => setting(key) !== undefined)) return undefined;
    const remedies = Object.entries(remedy?.settings ?? {});
    if (remedies.every(([key]) => setting(key) === undefined)) return { failing, mayPass };
    return isInEffect(remedy, setting) ? { failing: [], mayPass: false } : undefined;
}

/** Options of `npm run experiment` that set a remedy's settings. Empty if it has none. */
export const optionsOf = ({ settings = {} }: Remedy): string =>
    Object.entries(settings)
        .map(([key, value]) => `--set ${key}=${value}`)
        .join(" ");

/** Whether all settings of a remedy are set. False if it has none. */
export function isInEffect(remedy: Remedy | undefined, setting: (key: string) => string | undefined): boolean {
    const remedies = Object.entries(remedy?.settings ?? {});
    return remedies.length > 0 && remedies.every(([key, value]) => setting(key) === value);
}

/** How a run ended, as far as it is expected. */
interface Ending {
    verdict: string;
    checks: readonly { name: string; held: boolean }[];
}

/** What was expected instead, for people: `expected PASSED`. Undefined if the run ended as expected. */
export function differenceFrom({ failing, mayPass }: Expectation, { verdict, checks }: Ending): string | undefined {
    const expected = verdictOf({ failing });
    if (verdict === "PASSED" && mayPass) return undefined;
    if (verdict !== expected) return `expected ${expected}`;
    const failed = checks.filter(({ held }) => !held).map(({ name }) => name);
    const isSame = failed.length === failing.length && failed.every((name) => failing.includes(name));
    if (isSame || verdict === "PASSED") return undefined;
    return `expected to fail: ${failing.join(", ")}`;
}
