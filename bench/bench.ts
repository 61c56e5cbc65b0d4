import { availableParallelism, loadavg } from "node:os";
import { benchProgram } from "../cli/programs";
import { describeResult, type Figure, judge, type Result } from "./figure";
import { experimentEnable } from "./figures/experiment-enable";
import { experimentRun } from "./figures/experiment-run";
import { matchMedian } from "./figures/match-median";
import { previewUnchanged } from "./figures/preview-unchanged";
import { proxyMedian } from "./figures/proxy-median";
import { shopUp } from "./figures/shop-up";
import { type BenchOptions, benchOptions } from "./options";
import { Session } from "./session";

const figures: readonly Figure[] = [
    shopUp,
    previewUnchanged,
    experimentEnable,
    experimentRun,
    proxyMedian,
    matchMedian,
];
const names = figures.map(({ name }) => name);

const say = (line: string) => process.stderr.write(`${line}\n`);

async function main({ json, names: wanted }: BenchOptions): Promise<void> {
    const [load] = loadavg() as [number];
    if (load > availableParallelism() / 2)
        say(
            `The machine is busy (load ${load.toFixed(1)} on ${availableParallelism()} processors): ` +
                "the figures will be worse than usual.",
        );
    const session = await Session.open((line) => say(`  ${line}`));
    const interrupted = new Promise<never>((_, reject) => {
        for (const signal of ["SIGINT", "SIGTERM"] as const)
            process.once(signal, () => reject(new Error(`interrupted by ${signal}`)));
    });
    const results: Result[] = [];
    try {
        for (const figure of figures.filter(({ name }) => wanted.includes(name)))
            results.push(await Promise.race([measure(figure, session), interrupted]));
    } finally {
        say("Cleaning up");
        await session.close().catch((error: Error) => {
            // The results are still printed.
            say(`  not complete, the next run continues: ${error.message}`);
            process.exitCode = 1;
        });
    }
    const holds = results.every((result) => result.holds);
    if (json) console.log(JSON.stringify({ holds, figures: results }, undefined, 2));
    else for (const result of results) console.log(describeResult(result));
    if (!holds) process.exitCode = 1;
}

/** A figure that cannot be measured fails, but the others are still measured. */
async function measure(figure: Figure, session: Session): Promise<Result> {
    const { measure: _, ...about } = figure;
    say(`${about.name}: ${about.meaning}`);
    try {
        return judge(figure, await figure.measure(session));
    } catch (error) {
        const problem = (error as Error).message;
        say(`  not measured: ${problem}`);
        return { ...about, holds: false, problem };
    }
}

const optionsIn = (args: string[]) => benchOptions(args, names);

benchProgram.run(optionsIn, (options) =>
    // Exits even if an interrupted measurement is still running.
    main(options).finally(() => setImmediate(() => process.exit())),
);
