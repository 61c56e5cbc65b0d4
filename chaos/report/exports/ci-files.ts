import { accessSync, constants, existsSync, lstatSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { badgeSvg } from "./badge";
import { junitXml } from "./junit";
import { replaceFile } from "../journal-files";
import type { ReportedRun } from "../reported-run";
import { indexPage } from "../runs-page";
import { summaryMarkdown } from "../summary";

export interface CiFiles {
    junit?: string;
    summary?: string;
    /** The page of all runs. */
    index?: string;
    badge?: string;
}

/** @returns the paths of what was written. @throws Error if a file cannot be written */
export function writeCiFiles({ junit, summary, index, badge }: CiFiles, runs: readonly ReportedRun[]): string[] {
    if (junit !== undefined) replaceFile(junit, junitXml(runs));
    if (summary !== undefined) replaceFile(summary, summaryMarkdown(runs));
    if (index !== undefined) replaceFile(index, indexPage(runs, dirname(index)));
    if (badge !== undefined) replaceFile(badge, badgeSvg(runs));
    return [junit, summary, index, badge].filter((path) => path !== undefined);
}

/**
 * Why files could not be written later, found out without touching anything.
 *
 * @param paths by the option that names them, such as `--junit`. Undefined if the option is not given
 */
export function mistakesInOutputs(paths: Readonly<Record<string, string | undefined>>): string[] {
    const given = Object.entries(paths).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const mistakes = given.flatMap(([option, path]) => {
        const mistake = mistakeIn(path);
        return mistake === undefined ? [] : [`${option} ${path || '""'}: ${mistake}`];
    });
    const named = given.filter(([, path]) => path !== "").map(([option, path]) => ({ option, place: resolve(path) }));
    const same = named.filter(({ place }) => named.filter((other) => other.place === place).length > 1);
    if (same.length > 0)
        mistakes.push(`${same.map(({ option }) => option).join(" and ")} name the same file; name two`);
    return mistakes;
}

function mistakeIn(path: string): string | undefined {
    if (path === "") return "the name of a file is missing";
    const folder = nearestFolder(dirname(resolve(path)));
    if (!statSync(folder).isDirectory()) return `${folder} is not a folder; name a file in another one`;
    // A link or a device would be replaced by the file: /dev/stdout, for example, for all programs of the machine.
    const there = lstatSync(path, { throwIfNoEntry: false });
    if (there && !there.isFile()) return "is there, but is not a regular file; name another one";
    try {
        accessSync(folder, constants.W_OK | constants.X_OK);
        return undefined;
    } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        return `nothing can be written to the folder ${folder} (${code}); name a file in another one`;
    }
}

/** The folder, or its nearest ancestor that exists. */
function nearestFolder(folder: string): string {
    return folder === dirname(folder) || existsSync(folder) ? folder : nearestFolder(dirname(folder));
}
