import { Program } from "../../cli/command";
import { type DeniedTraffic, networkNames, type NetworkName, nodeCounts } from "../../sandbox/node/choices";
import type { PeerOptions } from "./peers/compare";
import { deniedOn, type Place } from "./place";

export interface TrialOptions {
    /** `list` prints the kinds, `markdown` the results; `a-a` does runs without an attack. */
    does: "run" | "list" | "markdown" | "a-a";
    rounds: number;
    seed: string;
    place: Place;
    /** What the network does with traffic that a NetworkPolicy denies, one after the other. */
    denied: DeniedTraffic[];
    parallel: number;
    /** Names, in the order of the table; with `peer`, of the questions. */
    kinds: string[];
    /** Asks another tool and this project the same questions, instead of trials. */
    peer?: PeerOptions;
}

export const trialsProgram = new Program("trials", [
    [0, "all verdicts are right and nothing was left"],
    [1, "one is not, or something was left"],
    [2, "wrong argument"],
])
    .description(
        "Runs complete experiments on the sandbox, disturbs them, and compares each verdict with those that are " +
            "right for its kind. Each result is a line of reports/trials.jsonl: what is done for a seed, a commit, a " +
            "network and a number of nodes is skipped. Afterwards the sandbox is as it was before.",
    )
    .argument(
        "[KIND...]",
        "try only these kinds, see --list. Default: all. Or a-a: runs without an attack, whose answers before and " +
            "after are compared. It counts how often each kind of limit alarms. Each is a line of reports/a-a.jsonl",
    )
    .option("--rounds <N>", "how often to try each kind with each --denied. Default: 1, and 100 with a-a")
    .option("--seed <TEXT>", "decides all random moments", "1")
    .option("--network <NAME>", `what enforces NetworkPolicies: ${networkNames.join(", ")}`, "kube-router")
    .option("--nodes <N>", "1 or 2 nodes", "1")
    .option(
        "--denied <WHAT>",
        "what the network does with traffic that a NetworkPolicy denies: drop, reject or both. Default: both with " +
            "kube-router; the others only drop",
    )
    .option("--parallel <N>", "1 or 2 trials at a time, where they do not disturb each other", "1")
    .option(
        "--peer <NAME>",
        "ask chaostoolkit and this project the same questions, in turns, on the sandbox as it is. KIND is a question " +
            "then, see --list",
    )
    .option("--quick", "with --peer, look only 1 minute after a command was killed, and not also 5 minutes")
    .option("--write", "with --peer, write the table into docs/comparison.md")
    .option("--list", "print the kinds and exit")
    .option("--markdown", "print the table of this seed's last results on each network as Markdown and exit");

/** Runs without an attack: no kind, since none of their verdicts is wrong by itself. */
const aA = "a-a";

interface Given {
    rounds?: string;
    seed: string;
    network: string;
    nodes: string;
    denied?: string;
    parallel: string;
    list?: true;
    markdown?: true;
    peer?: string;
    quick?: true;
    write?: true;
}

/** What only trials have. */
const notOfPeers = ["rounds", "seed", "network", "nodes", "denied", "parallel", "markdown"];

/**
 * Reads the arguments of `npm run trials`.
 *
 * @param kinds names of all kinds
 * @param questions names of what is asked with `--peer`
 * @throws Error with all mistakes
 */
export function readOptions(args: string[], kinds: readonly string[], questions: readonly string[] = []): TrialOptions {
    const {
        rounds: wanted,
        seed,
        network,
        nodes,
        denied,
        parallel,
        list = false,
        markdown = false,
        peer,
        quick = false,
        write = false,
    } = trialsProgram.read<Given>(args);
    const given = trialsProgram.args;
    const known = peer === undefined ? kinds : questions;
    const excluded = notOfPeers.filter((option) => trialsProgram.getOptionValueSource(option) === "cli");
    const isAA = peer === undefined && given.includes(aA);
    const rounds = wanted ?? (isAA ? "100" : "1");
    const what = peer === undefined ? "kind" : "question";
    const allowed = isNetwork(network) ? deniedOn(network) : [];
    const unknown = given.filter((name) => !known.includes(name) && !(isAA && name === aA));
    const mistakes = [
        !/^[1-9]\d{0,2}$/.test(rounds) && `--rounds is "${rounds}"; allowed: 1 to 999`,
        !/^[\w.-]{1,40}$/.test(seed) && `--seed is "${seed}"; allowed: up to 40 letters, digits, and . _ -`,
        !isNetwork(network) && `--network is "${network}"; allowed: ${networkNames.join(", ")}`,
        !nodeCounts.map(String).includes(nodes) && `--nodes is "${nodes}"; allowed: ${nodeCounts.join(", ")}`,
        denied !== undefined && isNetwork(network) && mistakeInDenied(denied, network),
        !["1", "2"].includes(parallel) && `--parallel is "${parallel}"; allowed: 1, 2`,
        isAA && given.length > 1 && `${aA} is tried alone; leave out ${given.filter((name) => name !== aA).join(", ")}`,
        list && markdown && "--list and --markdown exclude each other",
        peer !== undefined && peer !== "chaostoolkit" && `--peer is "${peer}"; allowed: chaostoolkit`,
        peer !== undefined && excluded.length > 0 && `--peer and --${excluded.join(", --")} exclude each other`,
        peer === undefined && quick && "--quick needs --peer chaostoolkit",
        peer === undefined && write && "--write needs --peer chaostoolkit",
        unknown.length > 0 && `no ${what} is named ${unknown.join(", ")}; there are ${known.join(", ")}`,
    ].filter((mistake) => mistake !== false);
    if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
    return {
        does: list ? "list" : markdown ? "markdown" : isAA ? aA : "run",
        rounds: Number(rounds),
        seed,
        place: { network: network as NetworkName, nodes: Number(nodes) as Place["nodes"] },
        denied: allowed.filter((choice) => [undefined, "both", choice].includes(denied)),
        parallel: Number(parallel),
        kinds: known.filter((name) => given.length === 0 || given.includes(name)),
        ...(peer !== undefined && { peer: { quick, write } }),
    };
}

const isNetwork = (name: string): name is NetworkName => (networkNames as readonly string[]).includes(name);

function mistakeInDenied(denied: string, network: NetworkName): string | false {
    const possible: readonly string[] = deniedOn(network);
    const allowed = possible.length > 1 ? [...possible, "both"] : possible;
    if (allowed.includes(denied)) return false;
    const why = ["reject", "both"].includes(denied) ? `, since ${network} only drops what a NetworkPolicy denies` : "";
    return `--denied is "${denied}"; allowed: ${allowed.join(", ")}${why}`;
}
