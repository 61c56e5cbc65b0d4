import { Program } from "../../cli/command";
import { type DeniedTraffic, deniedTrafficChoices } from "../../sandbox/node/choices";

export interface TrialOptions {
    /** `list` prints the kinds, `markdown` the results. */
    does: "run" | "list" | "markdown";
    rounds: number;
    seed: string;
    /** What the network does with traffic that a NetworkPolicy denies, one after the other. */
    denied: DeniedTraffic[];
    parallel: number;
    /** Names, in the order of the table. */
    kinds: string[];
}

export const trialsProgram = new Program("trials", [
    [0, "all verdicts are right and nothing was left"],
    [1, "one is not, or something was left"],
    [2, "wrong argument"],
])
    .description(
        "Runs complete experiments on the sandbox, disturbs them, and compares each verdict with those that are " +
            "right for its kind. Each result is a line of reports/trials.jsonl: what is done for a seed and a commit " +
            "is skipped.",
    )
    .argument("[KIND...]", "try only these kinds, see --list. Default: all")
    .option("--rounds <N>", "how often to try each kind with each --denied", "1")
    .option("--seed <TEXT>", "decides all random moments", "1")
    .option(
        "--denied <WHAT>",
        "what the network does with traffic that a NetworkPolicy denies: drop, reject or both",
        "both",
    )
    .option("--parallel <N>", "1 or 2 trials at a time, where they do not disturb each other", "1")
    .option("--list", "print the kinds and exit")
    .option("--markdown", "print the table of this seed's last results as Markdown and exit");

interface Given {
    rounds: string;
    seed: string;
    denied: string;
    parallel: string;
    list?: true;
    markdown?: true;
}

/**
 * Reads the arguments of `npm run trials`.
 *
 * @param known names of all kinds
 * @throws Error with all mistakes
 */
export function readOptions(args: string[], known: readonly string[]): TrialOptions {
    const { rounds, seed, denied, parallel, list = false, markdown = false } = trialsProgram.read<Given>(args);
    const given = trialsProgram.args;
    const unknown = given.filter((name) => !known.includes(name));
    const mistakes = [
        !/^[1-9]\d{0,2}$/.test(rounds) && `--rounds is "${rounds}"; allowed: 1 to 999`,
        !/^[\w.-]{1,40}$/.test(seed) && `--seed is "${seed}"; allowed: up to 40 letters, digits, and . _ -`,
        !["both", ...deniedTrafficChoices].includes(denied) &&
            `--denied is "${denied}"; allowed: ${[...deniedTrafficChoices, "both"].join(", ")}`,
        !["1", "2"].includes(parallel) && `--parallel is "${parallel}"; allowed: 1, 2`,
        list && markdown && "--list and --markdown exclude each other",
        unknown.length > 0 && `no kind is named ${unknown.join(", ")}; there are ${known.join(", ")}`,
    ].filter((mistake) => mistake !== false);
    if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
    return {
        does: list ? "list" : markdown ? "markdown" : "run",
        rounds: Number(rounds),
        seed,
        denied: deniedTrafficChoices.filter((choice) => denied === "both" || choice === denied),
        parallel: Number(parallel),
        kinds: known.filter((name) => given.length === 0 || given.includes(name)),
    };
}
