import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { DeniedTraffic } from "../../sandbox/node/choices";
import type { Seen } from "./kind";
import { describePlace, type Place } from "./place";

/** A trial's result, as a line of the results' file. */
export interface Result extends Omit<Seen, "journals">, Place {
    seed: string;
    /** What was tried; see `commitOf`. */
    commit: string;
    kind: string;
    /** What the network did with traffic that a NetworkPolicy denies. */
    denied: DeniedTraffic;
    round: number;
    /** The outcomes that the kind allows, in words. */
    expected: string;
    seconds: number;
    /** When it ended: ISO 8601. */
    at: string;
}

export type TrialKey = Pick<Result, "kind" | keyof Place | "denied" | "round">;

/** Tells a trial from the others of a seed and a commit: `policy-lifted/calico, 2 nodes/drop/1`. */
export const keyOf = ({ kind, denied, round, ...place }: TrialKey): string =>
    [kind, describePlace(place), denied, round].join("/");

/** A trial is right if its verdict is, and nothing was left. */
export const isRight = ({ problems, leftovers }: Pick<Result, "problems" | "leftovers">): boolean =>
    problems.length === 0 && leftovers.length === 0;

export function appendResult(file: string, result: Result): void {
    mkdirSync(dirname(file), { recursive: true });
    appendFileSync(file, `${JSON.stringify(result)}\n`);
}

/**
 * All results, in the order in which they were written. Leaves out a line that a killed program did not finish, and
 * those of before trials had a number of nodes.
 */
export function readResults(file: string): Result[] {
    if (!existsSync(file)) return [];
    return readFileSync(file, "utf8")
        .split("\n")
        .flatMap((line) => {
            try {
                const result = JSON.parse(line) as Result;
                return "nodes" in result ? [result] : [];
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
