import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { DeniedTraffic } from "../../sandbox/node/choices";
import type { Seen } from "./kind";

/** A trial's result, as a line of the results' file. */
export interface Result extends Omit<Seen, "journals"> {
    seed: string;
    /** What was tried; see `commitOf`. */
    commit: string;
    kind: string;
    /** What the network did with traffic that a NetworkPolicy denies. Kept results have it under this name. */
    network: DeniedTraffic;
    round: number;
    /** The outcomes that the kind allows, in words. */
    expected: string;
    seconds: number;
    /** When it ended: ISO 8601. */
    at: string;
}

export type TrialKey = Pick<Result, "kind" | "network" | "round">;

/** Tells a trial from the others of a seed and a commit. */
export const keyOf = ({ kind, network, round }: TrialKey): string => `${kind}/${network}/${round}`;

/** A trial is right if its verdict is, and nothing was left. */
export const isRight = ({ problems, leftovers }: Pick<Result, "problems" | "leftovers">): boolean =>
    problems.length === 0 && leftovers.length === 0;

export function appendResult(file: string, result: Result): void {
    mkdirSync(dirname(file), { recursive: true });
    appendFileSync(file, `${JSON.stringify(result)}\n`);
}

/** All results, in the order in which they were written. Leaves out a line that a killed program did not finish. */
export function readResults(file: string): Result[] {
    if (!existsSync(file)) return [];
    return readFileSync(file, "utf8")
        .split("\n")
        .flatMap((line) => {
            try {
                return [JSON.parse(line) as Result];
            } catch {
                return [];
            }
        });
}

/** The checked-out commit of a folder, followed by `-changed` if files differ from it. `unknown` without git. */
export function commitOf(folder: string): string {
    const git = (...args: string[]) =>
        execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    try {
        return git("rev-parse", "--short=12", "HEAD") + (git("status", "--porcelain") === "" ? "" : "-changed");
    } catch {
        return "unknown";
    }
}
