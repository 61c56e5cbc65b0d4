import { Program } from "../../cli/command";
import { abilities, type Choices, networkNames, nodeCounts } from "../../sandbox/node/choices";

/**
 * What the tests run on, one after the other. In an order in which pods are seldom recreated: a change of `denied`
 * keeps them.
 */
export const allSettings: readonly Choices[] = networkNames.flatMap((network) => [
    ...nodeCounts.flatMap((nodes) =>
        abilities[network].denied.map((denied): Choices => ({ network, nodes, ipFamilies: "ipv4", denied })),
    ),
    ...abilities[network].ipFamilies
        .filter((ipFamilies) => ipFamilies !== "ipv4")
        .map((ipFamilies): Choices => ({ network, nodes: 1, ipFamilies, denied: "drop" })),
]);

/** Tests on one network, or those that change it. */
export interface Step {
    /** As in `kube-router, reject, 2 nodes`. */
    readonly name: string;
    readonly choices: Choices;
    /** Of vitest.config.mts. */
    readonly projects: readonly string[];
    /** Only these test files, by a part of their paths; all if it is empty. */
    readonly files: readonly string[];
}

/** What a second address family makes a difference to. */
const filesOfFamilies = ["ip-families", "network-facts", "e2e/services", "experiments/ways"];

/** The tests of some settings and, if wanted, of changes from one network to another. */
export function stepsOf({ settings, changes, files }: Pick<NetworksOptions, "settings" | "changes" | "files">): Step[] {
    const steps = settings.map((choices) => ({
        name: nameOf(choices),
        choices,
        projects: ["networks", "networks-alone"],
        files: files.length === 0 && choices.ipFamilies !== "ipv4" ? filesOfFamilies : files,
    }));
    if (!changes) return steps;
    return [...steps, { name: "changes", choices: settings[0]!, projects: ["networks-changes"], files: [] }];
}

/** As in `kube-router, reject, 2 nodes`. */
export const nameOf = ({ network, nodes, ipFamilies, denied }: Choices): string =>
    [
        network,
        ...(abilities[network].denied.length > 1 ? [denied] : []),
        nodes === 1 ? "1 node" : `${nodes} nodes`,
        ...(ipFamilies === "ipv4" ? [] : [ipFamilies]),
    ].join(", ");

export interface NetworksOptions {
    settings: Choices[];
    /** Whether changes from one network to another are tested, too. */
    changes: boolean;
    /** Whether kept results of these steps are forgotten. */
    again: boolean;
    /** Only these test files, by a part of their paths. @default all */
    files: string[];
}

export const networksProgram = new Program("test:networks", [
    [0, "all tests passed on all chosen networks"],
    [1, "one failed"],
    [2, "wrong argument"],
])
    .usage("[FILE...] [options]")
    .description(
        "Runs the tests of attacks, of the agent and of the demo's story on each network that the sandbox can have: " +
            "kube-router, Calico and Cilium, on one and on two nodes, with dropped and with rejected traffic where " +
            "the network can. Takes about 80 minutes. Results are kept in reports/test-networks.json, so the same " +
            "command continues after an interruption, until a file of the repository changes.",
    )
    .argument("[FILE...]", "run only these test files, by a part of their paths; their results are not kept")
    .option("--network <NAME>", `only this network: ${networkNames.join(", ")}. Default: all`)
    .option("--nodes <N>", "only on 1 or on 2 nodes. Default: both")
    .option("--again", "forget the kept results of the chosen networks");

interface Given {
    network?: string;
    nodes?: string;
    again?: true;
}

/**
 * Reads the arguments of `npm run test:networks`.
 *
 * @throws Error with all mistakes
 */
export function readOptions(args: string[]): NetworksOptions {
    const { network, nodes, again = false } = networksProgram.read<Given>(args);
    const names: readonly string[] = networkNames;
    const mistakes = [
        network !== undefined && !names.includes(network) && `--network is "${network}"; allowed: ${names.join(", ")}`,
        nodes !== undefined &&
            !nodeCounts.map(String).includes(nodes) &&
            `--nodes is "${nodes}"; allowed: ${nodeCounts.join(", ")}`,
    ].filter((mistake) => mistake !== false);
    if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
    const isChosen = (one: Choices) =>
        (network ?? one.network) === one.network && Number(nodes ?? one.nodes) === one.nodes;
    const files = networksProgram.args;
    const changes = network === undefined && nodes === undefined && files.length === 0;
    return { settings: allSettings.filter(isChosen), changes, again, files };
}
