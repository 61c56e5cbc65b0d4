import { availableParallelism, loadavg } from "node:os";
import { describeResult, type Figure, judge, type Result } from "./figure";
import { agentDiscovery } from "./figures/agentDiscovery";
import { agentMemory } from "./figures/agentMemory";
import { chartUp } from "./figures/chartUp";
import { checkRate } from "./figures/checkRate";
import { experimentEnable } from "./figures/experimentEnable";
import { experimentRun } from "./figures/experimentRun";
import { gatewayLatency } from "./figures/gatewayLatency";
import { gatewayThroughput } from "./figures/gatewayThroughput";
import { orderMemory } from "./figures/orderMemory";
import { podMemory } from "./figures/podMemory";
import { previewPerResource } from "./figures/previewPerResource";
import { previewUnchanged } from "./figures/previewUnchanged";
import { recovery } from "./figures/recovery";
import { shopUp } from "./figures/shopUp";
import { targetChoice } from "./figures/targetChoice";
import { readOptions } from "./options";
import { Session } from "./session";

const figures = {
    "shop-up": shopUp,
    "chart-up": chartUp,
    "preview-unchanged": previewUnchanged,
    "preview-per-resource": previewPerResource,
    "experiment-enable": experimentEnable,
    "experiment-run": experimentRun,
    recovery,
    "pod-memory": podMemory,
    "check-rate": checkRate,
    "target-choice": targetChoice,
    "gateway-throughput": gatewayThroughput,
    "gateway-latency": gatewayLatency,
    "agent-discovery": agentDiscovery,
    "agent-memory": agentMemory,
    // Last, since the shop becomes another by it.
    "order-memory": orderMemory,
} satisfies Record<string, (session: Session) => Figure>;

const help = `npm run bench [-- [--json] [NAME...]]: how fast and how big, each figure against its bar.

Measures on the sandbox, in namespaces of its own (bench-...), in some twenty minutes. Both sides of a comparison take
turns in one run, and medians are compared. Let nothing else run meanwhile.

  NAME      only these: ${Object.keys(figures).join(", ")}
  --json    the results as JSON on standard output

Exit code 0 if all figures hold, 1 if one does not or could not be measured, 2 for a wrong argument.`;

const say = (line: string) => process.stderr.write(`${line}\n`);

async function main(): Promise<void> {
    const options = readOptions(process.argv.slice(2), Object.keys(figures));
    if (options.kind === "help") return console.log(help);
    if (options.kind === "mistake") {
        say(options.message);
        process.exitCode = 2;
        return;
    }
    const [load] = loadavg() as [number];
    if (load > availableParallelism() / 2)
        say(
            `The machine has other work (load ${load.toFixed(1)} on ${availableParallelism()} processors): what is measured now is worse than it is.`,
        );
    const session = await Session.open((line) => say(`  ${line}`));
    const interrupted = new Promise<never>((_, reject) => {
        for (const signal of ["SIGINT", "SIGTERM"] as const)
            process.once(signal, () => reject(new Error(`interrupted by ${signal}`)));
    });
    const results: Result[] = [];
    try {
        for (const name of options.names)
            results.push(await Promise.race([measure(figures[name as keyof typeof figures](session)), interrupted]));
    } finally {
        say("Removing what the bench made");
        await session.close().catch((error: Error) => {
            // What was measured is told all the same.
            say(`  something is left, which the next run removes: ${error.message}`);
            process.exitCode = 1;
        });
    }
    if (options.json)
        console.log(JSON.stringify({ holds: results.every(({ holds }) => holds), figures: results }, undefined, 2));
    else for (const result of results) console.log(describeResult(result));
    if (!results.every(({ holds }) => holds)) process.exitCode = 1;
}

/** A figure that cannot be measured does not hold, and does not keep the others from being measured. */
async function measure(figure: Figure): Promise<Result> {
    const { name, meaning, bar, unit } = figure;
    say(`${name}: ${meaning}`);
    try {
        return judge(figure, await figure.measure());
    } catch (error) {
        const problem = (error as Error).message;
        say(`  not measured: ${problem}`);
        return { name, meaning, bar, unit, holds: false, problem };
    }
}

main().then(
    // An interrupted measurement may still have something under way.
    () => process.exit(),
    (error: Error) => {
        say(error.message);
        process.exit(1);
    },
);
