import { parseArgs } from "node:util";
import { sandboxDestroy, sandboxDown } from "./node/down";
import { exportCommands, sandboxEnvironment } from "./node/env";
import { nodeReporterFor } from "./node/progress";
import { sandboxStatus } from "./node/status";
import { statusTable } from "./node/status-table";
import { sandboxUp } from "./node/up";
import { ensureParts } from "./parts/ensure";
import { requireSandboxHost } from "./parts/host";
import { sandboxPaths } from "./parts/paths";
import { removeTree } from "./parts/store";

const usage = `Usage: npm run sandbox -- COMMAND

A one-node Kubernetes and the Pulumi CLI for a machine that has neither. Linux, root and apt-get are needed.

  up                 bring it up; the first time this builds its parts. Nothing to do if it is up already
  down               stop it and leave the machine as it was; cluster, images and volumes are kept for the next up
  status [--json]    how it stands. Exit code 0: up, 1: broken, 3: down
  env                shell commands that set kubectl and Pulumi up for it: eval "$(npm run -s sandbox -- env)"
  destroy [--parts]  down, and remove the cluster, its images and volumes; with --parts, the built parts too

  --help             this text
`;

/** A command line that says nothing that can be done. */
class UsageError extends Error {}

const options = {
    help: { type: "boolean", short: "h" },
    json: { type: "boolean" },
    parts: { type: "boolean" },
} as const;

/** Which command takes which option. */
const commands: Readonly<Record<string, { run(flags: Flags): Promise<number>; takes?: keyof typeof options }>> = {
    up: { run: up },
    down: { run: down },
    status: { run: status, takes: "json" },
    env: { run: env },
    destroy: { run: destroy, takes: "parts" },
};

type Flags = { readonly help?: boolean; readonly json?: boolean; readonly parts?: boolean };

async function up(): Promise<number> {
    requireSandboxHost();
    await ensureParts("all");
    const reporter = await nodeReporterFor();
    const { wasUp } = await sandboxUp(reporter).finally(() => reporter.end());
    console.log(
        wasUp
            ? "The sandbox is up already; there was nothing to do."
            : 'The sandbox is up. For kubectl and pulumi in this shell: eval "$(npm run -s sandbox -- env)"',
    );
    return 0;
}

async function down(): Promise<number> {
    requireSandboxHost();
    const reporter = await nodeReporterFor();
    const stopped = await sandboxDown(reporter).finally(() => reporter.end());
    console.log(stopped ? "The sandbox is down." : "The sandbox is down already; there was nothing to do.");
    return 0;
}

async function destroy({ parts }: Flags): Promise<number> {
    requireSandboxHost();
    const reporter = await nodeReporterFor();
    await sandboxDestroy(reporter).finally(() => reporter.end());
    if (parts) await removeTree(sandboxPaths().parts);
    console.log(`The sandbox is gone${parts ? ", its built parts too" : "; its built parts are kept"}.`);
    return 0;
}

async function status({ json }: Flags): Promise<number> {
    const found = await sandboxStatus();
    process.stdout.write(json ? `${JSON.stringify(found, undefined, 2)}\n` : statusTable(found));
    return { up: 0, broken: 1, down: 3 }[found.state];
}

async function env(): Promise<number> {
    const { state } = await sandboxStatus();
    if (state === "down") throw new Error("The sandbox is down; `npm run sandbox -- up` brings it up.");
    if (state === "broken") console.error("The sandbox is broken; `npm run sandbox -- up` repairs it.");
    process.stdout.write(exportCommands(sandboxEnvironment()));
    return 0;
}

/** @returns the exit code. */
async function main(commandLine: readonly string[]): Promise<number> {
    const { name, flags } = parse(commandLine);
    if (flags.help || name === undefined) {
        process[flags.help ? "stdout" : "stderr"].write(usage);
        return flags.help ? 0 : 2;
    }
    return commands[name]!.run(flags);
}

function parse(commandLine: readonly string[]): { name?: string; flags: Flags } {
    const { values: flags, positionals } = parseStrictly(commandLine);
    const [name, ...surplus] = positionals;
    if (flags.help || name === undefined) return { name, flags };
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!command) {
        throw new UsageError(`there is no command \`${name}\`; there are ${Object.keys(commands).join(", ")}`);
    }
    if (surplus.length > 0)
        throw new UsageError(`\`${name}\` takes no argument, and was given \`${surplus.join(" ")}\``);
    const foreign = Object.keys(flags).find((flag) => flag !== command.takes);
    if (foreign) throw new UsageError(`\`${name}\` has no option \`--${foreign}\``);
    return { name, flags };
}

function parseStrictly(commandLine: readonly string[]) {
    try {
        return parseArgs({ args: [...commandLine], options, allowPositionals: true });
    } catch (error) {
        throw new UsageError((error as Error).message);
    }
}

main(process.argv.slice(2)).then(
    (code) => (process.exitCode = code),
    (error: unknown) => {
        console.error(error instanceof Error ? error.message : error);
        if (error instanceof UsageError) console.error(`\n${usage}`);
        process.exitCode = error instanceof UsageError ? 2 : 1;
    },
);
