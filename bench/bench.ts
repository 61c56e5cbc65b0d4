import { availableParallelism, loadavg } from "node:os";
import { benchProgram } from "../cli/programs";
import { describeResult, type Figure, judge, type Result } from "./figure";
import { experimentEnable } from "./figures/experiment-enable";
import { experimentRun } from "./figures/experiment-run";
import { previewUnchanged } from "./figures/preview-unchanged";
import { peers } from "./figures/peers";
import { matchMedian, proxyMedian } from "./figures/proxy-latency";
import { shopUp } from "./figures/shop-up";
import { interrupted, Session } from "./session";

const figures = [shopUp, previewUnchanged, experimentEnable, experimentRun, proxyMedian, matchMedian, ...peers];

/**
 * Reads the arguments of `npm run bench`.
 *
 * @param known names of all figures, in the order of measuring
 * @throws Error with what is wrong
 */
export function benchOptions(args: string[], known = figures.map(({ name }) => name)) {
    const { json = false } = benchProgram.read<{ json?: true }>(args);
    const given = benchProgram.args;
    // `peers` means all figures of that group.
    const means = (one: string, name: string) => name === one || name.startsWith(`${one}-`);
    const unknown = given.filter((one) => !known.some((name) => means(one, name)));
    if (unknown.length > 0) throw new Error(`no figure is named ${unknown.join(", ")}; allowed: ${known.join(", ")}`);
    return { json, names: known.filter((name) => given.length === 0 || given.some((one) => means(one, name))) };
}

const say = (line: string) => process.stderr.write(`${line}\n`);

async function main({ json, names: wanted }: ReturnType<typeof benchOptions>): Promise<void> {
    const [load] = loadavg() as [number];
    if (load > availableParallelism() / 2)
        say(
            `The machine is busy (load ${load.toFixed(1)} on ${availableParallelism()} processors): ` +
                "the figures will be worse than usual.",
        );
    const session = await Session.open((line) => say(`  ${line}`));
    const interruption = interrupted();
    const results: Result[] = [];
    try {
        for (const figure of figures.filter(({ name }) => wanted.includes(name)))
            results.push(await Promise.race([measureTwice(figure, session), interruption]));
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

/** The second time counts: a virtual machine may be half as fast from one second to the next. */
async function measureTwice(figure: Figure, session: Session): Promise<Result> {
    const first = await measure(figure, session);
    if (first.holds) return first;
    say(`  it exceeds its limit, or is not known: measured again\n${describeResult(first)}`);
    return measure(figure, session);
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

if (require.main === module)
    benchProgram.run(benchOptions, (options) =>
        // Exits even if an interrupted measurement is still running.
        main(options).finally(() => setImmediate(() => process.exit())),
    );
