import { filesInTheWay, follow, Programs, type Result } from "./exercises/check";
import { type Exercise, exercises, pagePath } from "./exercises/page";
import { prepare } from "./exercises/preparation";
import { alignedRows, heading, plainError, say, typed } from "./print";
import { workshopProgram } from "./programs";
import { type WorkshopOptions, workshopOptions } from "./workshop-options";

async function main(options: WorkshopOptions): Promise<void> {
    const all = exercises();
    const chosen = all.filter(({ number }) => options.numbers.includes(number));
    if (options.does === "list") list(all);
    else if (options.does === "check") process.exitCode = await check(chosen, options);
    else process.exitCode = (await begin(chosen[0]!, all, options)) ? 0 : 1;
}

function list(all: readonly Exercise[]): void {
    const rows = all.map(({ number, minutes, title, question }) => [`${number}.`, `${minutes} min`, title, question]);
    for (const row of alignedRows(rows)) say(row);
    say(`\nBegin with: ${typed("npm run workshop -- 1")}, and read ${pagePath}`);
}

/** Prepares an exercise and says what to do next. @returns whether it can begin */
async function begin(exercise: Exercise, all: readonly Exercise[], options: WorkshopOptions): Promise<boolean> {
    if (!(await prepare(exercise, all, options).catch(fail))) return false;
    const next = exercise.steps.find((step) => "args" in step && step.program === "experiment");
    heading(`Exercise ${exercise.number}: ${exercise.title} (${exercise.minutes} minutes)`);
    say(exercise.question);
    if (next && "args" in next)
        say(`Next: ${typed(["npm run experiment --", ...next.args, ...repeated(options)].join(" "))}`);
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
    report(results);
    if (programs.interrupted) return 130;
    return results.every(({ difference }) => difference === undefined) ? 0 : 1;
}

function repeated({ settings, stack }: WorkshopOptions): string[] {
    const set = Object.entries(settings).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
    return stack === "local" ? set : [...set, "--stack", stack];
}

function report(results: readonly Result[]): void {
    heading("The page and these runs");
    const rows = results.map(({ exercise, seconds, command, difference = "as on the page" }) => [
        `${exercise}.`,
        `${seconds} s`,
        difference,
        command,
    ]);
    for (const row of alignedRows(rows)) say(`  ${row}`);
    say(`\nThe shop is as the last exercise left it. To begin again: ${typed("npm run workshop -- 1")}`);
}

function fail(error: unknown): false {
    console.error(plainError(error));
    return false;
}

const optionsIn = (args: string[]) => workshopOptions(args, () => exercises().length);

workshopProgram.run(optionsIn, main);
