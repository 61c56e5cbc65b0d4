import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { savedExperiments } from "../../experiments/saved";
import { heading, say, typed } from "../print";
import { project } from "../stack-file";
import { Sources } from "./edits";
import { type Command, differenceFromPage, editsOf, endingIn, type Exercise, filesOf, type NewFile } from "./page";

export interface Result {
    exercise: number;
    command: string;
    difference?: string;
    seconds: number;
}

/**
 * Does an exercise as its reader would: runs its commands and makes its changes, which are reverted at the end. After
 * a command that is not as on the page, the rest is done all the same, unless the shop could not be prepared.
 *
 * @param options for each command
 * @throws Error if a file that the exercise writes is there, with another text
 */
export async function follow(exercise: Exercise, programs: Programs, options: readonly string[]): Promise<Result[]> {
    heading(`Exercise ${exercise.number}: ${exercise.title}`);
    const sources = new Sources(project);
    const results: Result[] = [];
    const written: NewFile[] = [];
    try {
        for (const step of exercise.steps) {
            if ("edits" in step) sources.apply(step.edits);
            else if ("path" in step) written.push(...write(step));
            else {
                const result = await done(step, programs, options);
                if (programs.interrupted) return results;
                results.push({ exercise: exercise.number, ...result });
                if (step.program === "workshop" && result.difference !== undefined) return results;
            }
        }
        return results;
    } finally {
        sources.revert(editsOf([exercise]));
        for (const { path } of written) rmSync(join(project, path));
    }
}

/** Files that exercises write, and that are there with another text: their reader's. As mistakes, for people. */
export function filesInTheWay(exercises: readonly Exercise[]): string[] {
    return exercises
        .flatMap(filesOf)
        .filter(
            ({ path, text }) => existsSync(join(project, path)) && readFileSync(join(project, path), "utf8") !== text,
        )
        .map(({ path }) => `${path} is there, with another text; keep a copy if you need it, then: rm ${path}`);
}

/** Writes a file unless it is there. @returns it, if it was written */
function write(file: NewFile): NewFile[] {
    const path = join(project, file.path);
    if (existsSync(path)) return [];
    writeFileSync(path, file.text);
    return [file];
}

async function done({ program, args, ending }: Command, programs: Programs, options: readonly string[]) {
    const command = `npm run ${program} -- ${[...args, ...options].join(" ")}`;
    say(`\n${typed(command)}`);
    const begun = performance.now();
    const { code, output } = await programs.run(program, [...args, ...options]);
    const seconds = Math.round((performance.now() - begun) / 1_000);
    if (ending === undefined) return { command, difference: code === 0 ? undefined : `exit code ${code}`, seconds };
    const ended = endingIn(stripVTControlCharacters(output));
    const mayPass = savedExperiments().find(({ name }) => name === args[0])?.story?.mayPass;
    const difference = differenceFromPage(ending, ended, mayPass);
    const was = ended ? ended.verdict : `no verdict, exit code ${code}`;
    return { command, difference: difference && `${was}; ${difference}`, seconds };
}

/** Runs programs of `cli/` one after the other, each as its user would, until a signal interrupts them. */
export class Programs {
    private running?: ChildProcess;
    private signals = 0;

    constructor() {
        for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
            process.on(signal, () => {
                this.signals++;
                // In a terminal, Ctrl-C and SIGHUP reach the program, too. It undoes its experiment before it ends.
                if (signal === "SIGTERM" || !process.stdin.isTTY) this.running?.kill(signal);
            });
    }

    get interrupted(): boolean {
        return this.signals > 0;
    }

    /** Runs `npm run NAME -- ARGS` without npm, and shows what it prints. */
    async run(name: string, args: readonly string[]): Promise<{ code: number; output: string }> {
        const child = spawn(process.execPath, ["--import", "tsx", `cli/${name}.ts`, ...args], {
            cwd: project,
            stdio: ["inherit", "pipe", "inherit"],
        });
        this.running = child;
        let output = "";
        child.stdout.setEncoding("utf8").on("data", (text: string) => {
            output += text;
            process.stdout.write(text);
        });
        const [code] = (await once(child, "close")) as [number | null];
        this.running = undefined;
        return { code: code ?? 1, output };
    }
}
