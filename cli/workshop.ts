import { npmCommand } from "../components/pulumi-command";
import { settingsIn } from "./command";
import { filesInTheWay, follow, Programs, type Result } from "./exercises/check";
import { type Exercise, exercises, pagePath } from "./exercises/page";
import { disturbing, prepare } from "./exercises/preparation";
import { alignedRows } from "../chaos/values/aligned";
import { plainError } from "../chaos/cli/plain-error";
import { heading, say, typed } from "./print";
import { workshopProgram } from "./programs";
import { withShellSetup } from "./shell-setup";

interface WorkshopOptions {
    does: "list" | "prepare" | "check";
    /** Numbers of exercises: one to prepare, or those to check, in order. */
    numbers: number[];
    /** For all updates, in addition to the stack's. */
    settings: Record<string, string>;
    stack: string;
}

export function workshopOptions(args: string[], countExercises: () => number): WorkshopOptions {
    const { check = false, set, stack } = workshopProgram.read<{ check?: true; set: string[]; stack: string }>(args);
    const given = workshopProgram.args;
    const count = countExercises();
    const mistakes = given
        .filter((text) => !/^\d+$/.test(text) || Number(text) < 1 || Number(text) > count)
        .map((text) => `there is no exercise "${text}"; allowed: 1 to ${count}`);
    if (given.length > 1 && !check)
        mistakes.push(`name one exercise, or check several: ${npmCommand(["workshop", "--", "--check"], stack)}`);
    const settings = settingsIn(set, stack, (mistake) => mistakes.push(mistake));
    for (const key of disturbing(settings)) mistakes.push(`--set ${key} would make another exercise: omit it`);
    if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
    const named = [...new Set(given.map(Number))].sort((a, b) => a - b);
    const all = Array.from({ length: count }, (_, index) => index + 1);
    const does = check ? "check" : named.length > 0 ? "prepare" : "list";
    return { does, numbers: named.length > 0 ? named : all, settings, stack };
}

async function main(options: WorkshopOptions): Promise<void> {
    const all = exercises();
    const chosen = all.filter(({ number }) => options.numbers.includes(number));
    if (options.does === "list") list(all, options);
    else if (options.does === "check") process.exitCode = await check(chosen, options);
    else process.exitCode = (await begin(chosen[0]!, all, options)) ? 0 : 1;
}

function list(all: readonly Exercise[], options: WorkshopOptions): void {
    const rows = all.map(({ number, minutes, title, question }) => [`${number}.`, `${minutes} min`, title, question]);
    for (const row of alignedRows(rows)) say(row);
    say(`\nBegin with: ${typed(first(options))}, and read ${pagePath}`);
}

/** Prepares an exercise and says what to do next. @returns whether it can begin */
async function begin(exercise: Exercise, all: readonly Exercise[], options: WorkshopOptions): Promise<boolean> {
    if (!(await prepare(exercise, all, options).catch(fail))) return false;
    const next = exercise.steps.find((step) => "args" in step && step.program === "experiment");
    heading(`Exercise ${exercise.number}: ${exercise.title} (${exercise.minutes} minutes)`);
    say(exercise.question);
    if (next && "args" in next)
        say(`Next: ${typed(npmCommand(["experiment", "--", ...next.args, ...repeated(options)]))}`);
    say(`Read on: ${pagePath}`);
    return true;
}

async function check(chosen: readonly Exercise[], options: WorkshopOptions): Promise<number> {
    const inTheWay = filesInTheWay(chosen);
    if (inTheWay.length > 0) return (fail(new Error(inTheWay.join("\n"))), 1);
    const programs = new Programs();
    const results: Result[] = [];
    for (const exercise of chosen)
        if (!programs.interrupted) results.push(...(await follow(exercise, programs, repeated(options))));
    report(results, options);
    if (programs.interrupted) return 130;
    return results.every(({ difference }) => difference === undefined) ? 0 : 1;
}

function repeated({ settings, stack }: WorkshopOptions): string[] {
    const set = Object.entries(settings).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
    return stack === "local" ? set : [...set, "--stack", stack];
}

const first = (options: WorkshopOptions) => npmCommand(["workshop", "--", "1", ...repeated(options)]);

function report(results: readonly Result[], options: WorkshopOptions): void {
    heading("The page and these runs");
    const rows = results.map(({ exercise, seconds, command, difference = "as on the page" }) => [
        `${exercise}.`,
        `${seconds} s`,
        difference,
        command,
    ]);
    for (const row of alignedRows(rows)) say(`  ${row}`);
    say(`\nThe shop is as the last exercise left it. To begin again: ${typed(first(options))}`);
}

function fail(error: unknown): false {
    console.error(withShellSetup(plainError(error)));
    return false;
}

if (require.main === module) workshopProgram.run((args) => workshopOptions(args, () => exercises().length), main);
