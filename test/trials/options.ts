import { parseArgs } from "node:util";
import type { Parsed } from "../../cli/program";
import { type DeniedTraffic, deniedTrafficChoices } from "../../sandbox/node/components/network-policy";

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

const allowed = "--rounds, --seed, --denied, --parallel, --list, --markdown, --help";

/** Parses the arguments of `npm run trials`, and tells all mistakes at once. @param known names of all kinds */
export function readOptions(args: string[], known: readonly string[]): Parsed<TrialOptions> {
    try {
        const { values, positionals } = parseArgs({
            args,
            allowPositionals: true,
            options: {
                rounds: { type: "string", default: "1" },
                seed: { type: "string", default: "1" },
                denied: { type: "string", default: "both" },
                parallel: { type: "string", default: "1" },
                list: { type: "boolean", default: false },
                markdown: { type: "boolean", default: false },
                help: { type: "boolean", short: "h", default: false },
            },
        });
        if (values.help) return { help: true };
        const { rounds, seed, denied, parallel, list, markdown } = values;
        const unknown = positionals.filter((name) => !known.includes(name));
        const mistakes = [
            !/^[1-9]\d{0,2}$/.test(rounds) && `--rounds is "${rounds}"; allowed: 1 to 999`,
            !/^[\w.-]{1,40}$/.test(seed) && `--seed is "${seed}"; allowed: up to 40 letters, digits, and . _ -`,
            !["both", ...deniedTrafficChoices].includes(denied) &&
                `--denied is "${denied}"; allowed: ${[...deniedTrafficChoices, "both"].join(", ")}`,
            !["1", "2"].includes(parallel) && `--parallel is "${parallel}"; allowed: 1, 2`,
            list && markdown && "--list and --markdown exclude each other",
            unknown.length > 0 && `no kind is named ${unknown.join(", ")}; there are ${known.join(", ")}`,
        ].filter((mistake) => mistake !== false);
        if (mistakes.length > 0) return { mistake: mistakes.join("\n") };
        return {
            does: list ? "list" : markdown ? "markdown" : "run",
            rounds: Number(rounds),
            seed,
            denied: deniedTrafficChoices.filter((choice) => denied === "both" || choice === denied),
            parallel: Number(parallel),
            kinds: known.filter((name) => positionals.length === 0 || positionals.includes(name)),
        };
    } catch (error) {
        return { mistake: `${(error as Error).message}; allowed: ${allowed}, and names of kinds (--list)` };
    }
}
