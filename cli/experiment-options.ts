import { continuing, type Repeat, repeatIn, type WrittenRepeat } from "../chaos/cli/series";
import type { CiFiles } from "../chaos/report/exports/ci-files";
import { mistakesInOutputs } from "../chaos/report/exports/ci-files";
import { npmCommand } from "../components/pulumi-command";
import { type Lesson, lessons } from "../experiments/story";
import { settingsIn } from "./command";
import { experimentProgram } from "./programs";

export interface RunOptions {
    /** Every saved experiment that runs on the shop's variant, instead of one. */
    all: boolean;
    /** With `all`, only experiments of these lessons. Empty for all. */
    lessons: Lesson[];
    /** @default the experiment that the stack's file names */
    name?: string;
    settings: Record<string, string>;
    stack: string;
    json: boolean;
    files: CiFiles;
    /** @default it is run once */
    repeat?: Repeat;
    /** The command that goes on with the series, if it is interrupted. */
    continuation?: string;
}

export type ExperimentOptions = { list: { json: boolean; lessons: Lesson[] } } | { statusOf: string } | RunOptions;

interface Given extends CiFiles, WrittenRepeat {
    all?: true;
    list?: true;
    lesson: string[];
    status?: true;
    set: string[];
    stack: string;
    json?: true;
}

export function experimentOptions(args: string[], saved: () => string[]): ExperimentOptions {
    const values = experimentProgram.read<Given>(args);
    const { all = false, stack, json = false, junit, summary } = values;
    const [name, ...more] = experimentProgram.args;
    const names = saved();
    const forAll = (["status", "list", "all"] as const).find((option) => values[option]);
    const outputs = { "--junit": junit, "--summary": summary };
    const mistakes: string[] = [];
    if (more.length > 0)
        mistakes.push(`name one experiment, or run all of them: ${npmCommand(["experiment", "--", "--all"], stack)}`);
    if (name !== undefined && !names.includes(name))
        mistakes.push(`there is no saved experiment "${name}"; allowed: ${names.join(", ")}`);
    if (name !== undefined && forAll) mistakes.push(`--${forAll} applies to all experiments: omit ${name}`);
    for (const lesson of values.lesson.filter((named) => !Object.hasOwn(lessons, named)))
        mistakes.push(`there is no lesson "${lesson}"; allowed: ${Object.keys(lessons).join(", ")}`);
    if (values.lesson.length > 0 && forAll !== "all" && forAll !== "list")
        mistakes.push("--lesson chooses among several: add --all or --list");
    mistakes.push(...mistakesInOutputs(outputs));
    for (const [option, path] of Object.entries(outputs))
        if (path !== undefined && forAll && forAll !== "all")
            mistakes.push(`${option} reports runs, and --${forAll} runs nothing: omit one of them`);
    const repeat = repeatIn(values, mistakes);
    if (repeat && forAll) mistakes.push(`--times repeats one experiment: omit --${forAll}`);
    if (repeat && values.set.some((pair) => /^(?:chaos-shop:)?experiment\.run=/.test(pair)))
        mistakes.push("--times names each run: omit --set experiment.run");
    const settings = settingsIn(values.set, stack, (mistake) => mistakes.push(mistake));
    if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
    if (values.status) return { statusOf: stack };
    const only = [...new Set(values.lesson as Lesson[])];
    if (values.list) return { list: { json, lessons: only } };
    const continuation = repeat && npmCommand(["experiment", "--", ...continuing(args)]);
    return { all, lessons: only, name, settings, stack, json, files: { junit, summary }, repeat, continuation };
}
