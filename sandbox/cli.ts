import { Command, Option } from "commander";
import { ensureParts } from "../toolchain/parts/ensure";
import { cachePaths } from "../toolchain/parts/paths";
import { removeTree } from "../toolchain/parts/store";
import { ensurePulumi } from "../toolchain/pulumi/parts";
import {
    type Choices,
    changedChoices,
    deniedTrafficValues,
    ipFamiliesValues,
    networkNames,
    nodeCounts,
} from "./node/choices";
import { sandboxDestroy, sandboxDown } from "./node/down";
import { exportCommands, sandboxEnvironment } from "./node/env";
import { sandboxStatus, statusTable } from "./node/status";
import { requireSandboxHost, sandboxUp } from "./node/up";
import { networkParts, userParts } from "./parts/locate";

/** The options of `up`, as they are typed. */
type Wanted = Partial<Omit<Choices, "nodes"> & { nodes: string }>;

/** As in `calico in 5 min`; kube-router is built with Kubernetes. */
const minutesOfNetworks = Object.entries(networkParts)
    .filter(([, parts]) => parts.length > 0)
    .map(([name, parts]) => `${name} in ${Math.ceil(parts.reduce((sum, { minutes }) => sum + minutes, 0))} min`)
    .join(", ");

const program = new Command("npm run sandbox --")
    .usage("COMMAND [options]")
    .description(
        "A Kubernetes of one node or two, and the Pulumi CLI. Requires Linux, root and apt-get (Debian, Ubuntu).",
    )
    .helpOption("-h, --help", "show this text")
    .helpCommand(false)
    .configureOutput({ getOutHelpWidth: () => 120, getErrHelpWidth: () => 120 })
    .showHelpAfterError()
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

const oneOf = (values: readonly string[], flags: string, meaning: string) => new Option(flags, meaning).choices(values);

const network =
    "what connects pods and enforces NetworkPolicies. When first asked for, it is built: " +
    `${minutesOfNetworks}. At first kube-router`;
const ipFamilies = "of pods and Services; both only with kube-router. At first ipv4";
const denied =
    "what the network does with traffic that a NetworkPolicy denies; reject only with kube-router. At first drop";

program
    .command("up")
    .description("start it; the first time, build its parts (8 min)")
    .addHelpText("after", "\nWhat these options choose is kept until it is changed.")
    .addOption(oneOf(networkNames, "--network <name>", network))
    .addOption(oneOf(nodeCounts.map(String), "--nodes <number>", "how many nodes. At first 1"))
    .addOption(oneOf(ipFamiliesValues, "--ip-families <list>", ipFamilies))
    .addOption(oneOf(deniedTrafficValues, "--denied <what>", denied))
    .action(async ({ nodes, ...others }: Wanted) => {
        requireSandboxHost();
        const wanted = { ...others, ...(nodes && { nodes: Number(nodes) as Choices["nodes"] }) };
        await ensureParts([...userParts, ...networkParts[changedChoices(wanted).network]]);
        await ensurePulumi();
        const { wasUp } = await sandboxUp(wanted);
        console.log(
            wasUp
                ? "The sandbox is already up."
                : 'The sandbox is up. To use kubectl and pulumi in this shell: eval "$(npm run -s sandbox -- env)"',
        );
    });

program
    .command("down")
    .description("stop it and undo its changes to this machine; keep the cluster, images and volumes")
    .action(async () => {
        requireSandboxHost();
        console.log((await sandboxDown()) ? "The sandbox is down." : "The sandbox is already down.");
    });

program
    .command("status")
    .description("show its state. Exit code 0: up, 1: broken, 3: down")
    .option("--json", "as JSON")
    .action(async ({ json }: { json?: true }) => {
        const found = await sandboxStatus();
        process.stdout.write(json ? `${JSON.stringify(found, undefined, 2)}\n` : statusTable(found));
        process.exitCode = { up: 0, broken: 1, down: 3 }[found.state];
    });

program
    .command("env")
    .description('print the environment of kubectl and Pulumi: eval "$(npm run -s sandbox -- env)"')
    .action(async () => {
        const { state } = await sandboxStatus();
        if (state === "down") throw new Error("The sandbox is down. Run `npm run sandbox -- up`.");
        if (state === "broken") console.error("The sandbox is broken. `npm run sandbox -- up` repairs it.");
        process.stdout.write(exportCommands(sandboxEnvironment()));
    });

program
    .command("destroy")
    .description("stop it and remove the cluster, images and volumes")
    .option("--parts", "also remove the built parts")
    .action(async ({ parts }: { parts?: true }) => {
        requireSandboxHost();
        await sandboxDestroy();
        if (parts) removeTree(cachePaths().parts);
        console.log(`The sandbox is removed${parts ? " with its built parts" : "; its built parts are kept"}.`);
    });

program.parseAsync().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
});
