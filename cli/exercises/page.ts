import { readFileSync } from "node:fs";
import { join } from "node:path";
import { project } from "../stack-file";
import { type Edit, editsIn } from "./edits";

/** How a run ended, as `npm run experiment` prints it. */
export interface Ending {
    /** Or `not begun`, if the settings are a mistake. */
    verdict: string;
    /** Names of the checks that did not hold. Undefined if the run had one check, whose result is the verdict. */
    failing?: string[];
}

/** Reads what `npm run experiment` prints at the end of a run. Undefined if that has neither a verdict nor mistakes. */
export function endingIn(output: string): Ending | undefined {
    if (/^Not begun: /m.test(output)) return { verdict: "not begun" };
    const verdict = /^ +Verdict +([A-Z]+):/m.exec(output)?.[1];
    if (verdict === undefined) return undefined;
    const checks = [...output.matchAll(/^ +Check +(.+): \S+(?: of \d+ \(.+\))? succeeded, (held|did not hold)$/gm)];
    const failing = checks.filter(([, , held]) => held !== "held").map(([, name]) => name!);
    return checks.length === 0 ? { verdict } : { verdict, failing: failing.sort() };
}

/**
 * What the page says instead, for people. Undefined if a run ended as on the page.
 *
 * @param mayPass whether a FAILED of the page may also be PASSED. @default false
 */
export function differenceFromPage(page: Ending, run: Ending | undefined, mayPass = false): string | undefined {
    if (run === undefined) return `the page has ${page.verdict}`;
    if (run.verdict === "PASSED" && page.verdict === "FAILED" && mayPass) return undefined;
    if (run.verdict !== page.verdict) return `the page has ${page.verdict}`;
    const [there, here] = [page, run].map(({ failing }) => failing?.join(", "));
    return there === here ? undefined : `on the page, these checks fail: ${there || "none"}`;
}

/** An exercise of docs/workshop.md. */
export interface Exercise {
    number: number;
    title: string;
    question: string;
    /** For somebody who has never run an experiment. */
    minutes: number;
    steps: Step[];
}

/** What its reader does, in the page's order. */
export type Step = Command | { edits: Edit[] } | NewFile;

/** `npm run PROGRAM -- ARGS`. */
export interface Command {
    program: "workshop" | "experiment";
    args: string[];
    /** How the run ends, as the transcript below it shows. Undefined for a preparation. */
    ending?: Ending;
}

export interface NewFile {
    path: string;
    text: string;
}

export const pagePath = "docs/workshop.md";

/** The exercises of the page, which is the only place that has them. */
export const exercises = (): Exercise[] => exercisesIn(readFileSync(join(project, pagePath), "utf8"));

/**
 * Reads exercises from a page in Markdown. An exercise begins with a heading `## 1. TITLE` and has:
 *
 * - `**Question** (12 minutes): …`, a paragraph
 * - commands, as indented code: `npm run workshop -- 1`, then `npm run experiment -- NAME …`, also in several lines
 *   that end with a backslash. Others are for reading
 * - a transcript of each run: the next fenced block with a line `Verdict` or `Not begun`
 * - changes, as fenced blocks: `diff`, or `ts` with the path of a new file as a comment in the first line
 */
export function exercisesIn(page: string): Exercise[] {
    const sections = page.split(/^## /m).filter((section) => /^\d+\. /.test(section));
    return sections.map(exerciseIn);
}

function exerciseIn(section: string): Exercise {
    const [, number, title] = /^(\d+)\. (.+)/.exec(section)!;
    const [, minutes = "0", question = ""] =
        /^\*\*Question\*\* \((\d+) minutes\): (.+(?:\n\S.*)*)/m.exec(section) ?? [];
    const steps: Step[] = [];
    // Fenced blocks and indented commands, in their order.
    const blocks = /^```(\w*)\n([\s\S]*?)\n```$|^ {4}npm run (workshop|experiment) -- ((?:.*\\\n)*.*)$/gm;
    for (const [, language = "", text, program, args] of section.matchAll(blocks)) {
        const words = args
            ?.replaceAll("\\\n", " ")
            .replace(/\s+#.*/, "")
            .trim()
            .split(/\s+/);
        if (words) {
            if (!words[0]!.startsWith("-")) steps.push({ program: program as Command["program"], args: words });
        } else if (language === "diff") steps.push({ edits: editsIn(text!) });
        else if (language === "ts") steps.push({ path: /^\/\/ (\S+)\n/.exec(text!)?.[1] ?? "", text: `${text}\n` });
        else giveEnding(steps.at(-1), endingIn(text!));
    }
    return {
        number: Number(number),
        title: title!,
        question: question.replace(/\s+/g, " "),
        minutes: Number(minutes),
        steps,
    };
}

function giveEnding(step: Step | undefined, ending: Ending | undefined): void {
    if (ending && step && "args" in step) step.ending ??= ending;
}

export const editsOf = (of: readonly Exercise[]): Edit[] =>
    of.flatMap(({ steps }) => steps.flatMap((step) => ("edits" in step ? step.edits : [])));

export const filesOf = ({ steps }: Exercise): NewFile[] => steps.filter((step) => "path" in step);
