import { parseArgs } from "node:util";
import { deniedTrafficChoices } from "./node/components/network-policy";
import { sandboxDestroy, sandboxDown } from "./node/down";
import { exportCommands, sandboxEnvironment } from "./node/env";
import { sandboxStatus } from "./node/status";
import { statusTable } from "./node/status-table";
import { sandboxUp } from "./node/up";
import { ensureParts } from "../toolchain/parts/ensure";
import { requireSandboxHost } from "./host";
import { userParts } from "./parts/locate";
import { sandboxPaths } from "./paths";
import { removeTree } from "../toolchain/parts/store";
import { ensurePulumi } from "../toolchain/pulumi/parts";

const usage = `Usage: npm run sandbox -- COMMAND

A one-node Kubernetes, and the Pulumi CLI. Requires Linux, root and apt-get (Debian, Ubuntu).

  up [--denied drop|reject]
                     Start it. The first time, build its parts (8 min). --denied: what the network does with traffic
                     that a NetworkPolicy denies. Kept until changed; at first drop, as with Calico and Cilium
  down               Stop it and undo its changes to this machine. Keeps the cluster, images and volumes
  status [--json]    Show its state. Exit code 0: up, 1: broken, 3: down
  env                Print the environment of kubectl and Pulumi: eval "$(npm run -s sandbox -- env)"
  destroy [--parts]  Stop it and remove the cluster, images and volumes; with --parts, also the built parts

  --help             Show this text
`;

class UsageError extends Error {}

const options = {
    help: { type: "boolean", short: "h" },
    denied: { type: "string" },
    json: { type: "boolean" },
    parts: { type: "boolean" },
} as const;

/** The commands, and the option that each takes. */
const commands: Readonly<Record<string, { run(flags: Flags): Promise<number>; takes?: keyof typeof options }>> = {
    up: { run: up, takes: "denied" },
    down: { run: down },
    status: { run: status, takes: "json" },
    env: { run: env },
    destroy: { run: destroy, takes: "parts" },
};

type Flags = { readonly help?: boolean; readonly denied?: string; readonly json?: boolean; readonly parts?: boolean };

async function up({ denied }: Flags): Promise<number> {
    const choice = deniedTrafficChoices.find((each) => each === denied);
    if (denied !== undefined && choice === undefined)
        throw new UsageError(`\`--denied\` is \`${denied}\`; choices: ${deniedTrafficChoices.join(", ")}`);
    requireSandboxHost();
    await ensureParts(userParts);
    await ensurePulumi();
    const { wasUp } = await sandboxUp(undefined, choice);
    console.log(
        wasUp
            ? "The sandbox is already up."
            : 'The sandbox is up. To use kubectl and pulumi in this shell: eval "$(npm run -s sandbox -- env)"',
    );
    return 0;
}

async function down(): Promise<number> {
    requireSandboxHost();
    const stopped = await sandboxDown();
    console.log(stopped ? "The sandbox is down." : "The sandbox is already down.");
    return 0;
}

async function destroy({ parts }: Flags): Promise<number> {
    requireSandboxHost();
    await sandboxDestroy();
    if (parts) removeTree(sandboxPaths().parts);
    console.log(`The sandbox is removed${parts ? " with its built parts" : "; its built parts are kept"}.`);
    return 0;
}

async function status({ json }: Flags): Promise<number> {
    const found = await sandboxStatus();
    process.stdout.write(json ? `${JSON.stringify(found, undefined, 2)}\n` : statusTable(found));
    return { up: 0, broken: 1, down: 3 }[found.state];
}

async function env(): Promise<number> {
    const { state } = await sandboxStatus();
    if (state === "down") throw new Error("The sandbox is down. Run `npm run sandbox -- up`.");
    if (state === "broken") console.error("The sandbox is broken. `npm run sandbox -- up` repairs it.");
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
        throw new UsageError(`unknown command \`${name}\`; commands: ${Object.keys(commands).join(", ")}`);
    }
    if (surplus.length > 0) throw new UsageError(`\`${name}\` takes no argument: \`${surplus.join(" ")}\``);
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
