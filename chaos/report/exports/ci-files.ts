import { accessSync, constants, existsSync, lstatSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Calls } from "../edges";
import { badgeSvg } from "./badge";
import { junitXml } from "./junit";
import { replaceFile } from "../journal-files";
import type { ReportedRun } from "../reported-run";
import { indexPage } from "../runs-page";
import { summaryMarkdown } from "../summary";
import { triedJson } from "../tried-table";

/** What writes each file, by the option that names the file. `index` is the page of all runs. */
const writers = {
    junit: junitXml,
    summary: summaryMarkdown,
    index: (runs: readonly ReportedRun[], path: string, calls?: Calls) => indexPage(runs, dirname(path), calls),
    badge: badgeSvg,
    tried: (runs: readonly ReportedRun[], _: string, calls?: Calls) => triedJson(runs, calls),
} satisfies Record<string, (runs: readonly ReportedRun[], path: string, calls?: Calls) => string>;

export type CiFiles = Partial<Record<keyof typeof writers, string>>;

/** @returns the paths of what was written. @throws Error if a file cannot be written */
export const writeCiFiles = (files: CiFiles, runs: readonly ReportedRun[], calls?: Calls): string[] =>
    Object.entries(writers).flatMap(([option, write]) => {
        const path = files[option as keyof CiFiles];
        if (path === undefined) return [];
        replaceFile(path, write(runs, path, calls));
        return path;
    });

/**
 * Why files could not be written later, found out without touching anything.
 *
 * @param paths by the options that name them, such as `--junit`. Undefined for an option that is not given
 */
export function mistakesInOutputs(paths: Readonly<Record<string, string | undefined>>): string[] {
    const given = Object.entries(paths).flatMap(([option, path]) => (path === undefined ? [] : { option, path }));
    const mistakes = given.flatMap(({ option, path }) => {
        const mistake = mistakeIn(path);
        return mistake === undefined ? [] : `${option} ${path || '""'}: ${mistake}`;
    });
    const named = given.filter(({ path }) => path !== "");
    const same = named.filter(({ path }) => named.filter((other) => resolve(other.path) === resolve(path)).length > 1);
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
const nearestFolder = (folder: string): string =>
    folder === dirname(folder) || existsSync(folder) ? folder : nearestFolder(dirname(folder));
