import { existsSync, readFileSync } from "node:fs";
import { appendFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type BuildLog, run } from "./run";

/** The Debian release that the images are made of, as their references say; the host's may be another. */
const SUITE = "bookworm";

/** What no container reads; left out, the images are half as big. The licence texts stay. */
const UNREAD = ["man/*", "info/*", "locale/*", "doc/*/*", "lintian/*"].map((path) => `/usr/share/${path}`);
const READ_ALL_THE_SAME = ["/usr/share/doc/*/copyright"];

/** A user of an image; group of the same name and number. */
export interface ImageUser {
    readonly name: string;
    readonly id: number;
    readonly home: string;
}

/** What goes into a Debian root file system. */
export interface DebianRoot {
    /** Beside Debian's essential packages. */
    readonly packages: readonly string[];
    readonly user?: ImageUser;
}

/**
 * Makes a Debian root file system. apt checks Debian's signatures on all of it.
 *
 * @returns the version of each of `packages`.
 * @throws {CommandError} with the words of mmdebstrap.
 */
export async function makeDebianRoot(what: DebianRoot, root: string, log: BuildLog): Promise<Record<string, string>> {
    const unread = UNREAD.map((path) => `--dpkgopt=path-exclude=${path}`);
    const kept = READ_ALL_THE_SAME.map((path) => `--dpkgopt=path-include=${path}`);
    // A user that is there already is taken by the package's own scripts, with the number that the official image has.
    const users = what.user ? userHooks(what.user) : [];
    const packages = what.packages.length > 0 ? [`--include=${what.packages.join(",")}`] : [];
    const mirror = debianMirror();
    const sources = mirror ? [`deb ${mirror} ${SUITE} main`] : [];
    const options = [
        "--mode=root",
        "--variant=essential",
        "--format=directory",
        ...unread,
        ...kept,
        ...users,
        ...packages,
    ];
    await run("mmdebstrap", [...options, SUITE, root, ...sources], log, { env: { SOURCE_DATE_EPOCH: "0" } });
    const question = [`--root=${root}`, "--show", "--showformat=${Package} ${Version}\\n"];
    const versions = await run("dpkg-query", [...question, ...what.packages], log);
    await rm(join(root, "etc/resolv.conf"), { force: true });
    await rm(join(root, "etc/hostname"), { force: true });
    return Object.fromEntries(versions.split("\n").map((line) => line.split(" ") as [string, string]));
}

/** The lines that a user adds to the files of /etc, by file. */
export function userEntries(user: ImageUser): Record<"passwd" | "group", string> {
    return {
        passwd: `${user.name}:x:${user.id}:${user.id}::${user.home}:/bin/bash`,
        group: `${user.name}:x:${user.id}:`,
    };
}

/** Adds a user to a root file system. */
export async function addUser(user: ImageUser, root: string): Promise<void> {
    for (const [file, line] of Object.entries(userEntries(user)))
        await appendFile(join(root, "etc", file), `${line}\n`);
}

function userHooks(user: ImageUser): string[] {
    return Object.entries(userEntries(user)).map(
        ([file, line]) => `--essential-hook=printf '%s\\n' '${line}' >> "$1/etc/${file}"`,
    );
}

/**
 * The mirror that this machine already takes this release from: one that is known to answer here.
 *
 * @returns nothing where the machine runs another release; mmdebstrap then takes Debian's own.
 */
function debianMirror(): string | undefined {
    const files = ["/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"];
    return files
        .filter((file) => existsSync(file))
        .map((file) => mirrorIn(readFileSync(file, "utf8")))
        .find((mirror) => mirror !== undefined);
}

/** Finds the mirror of the release in apt's sources, in either of their two formats. */
export function mirrorIn(sources: string): string | undefined {
    const oneLine = new RegExp(`^deb\\s+(?:\\[[^\\]]*\\]\\s+)?(\\S+)\\s+${SUITE}\\s`, "m").exec(sources);
    if (oneLine) return oneLine[1];
    const stanza = sources.split(/\n\s*\n/).find((text) => new RegExp(`^Suites:.*\\b${SUITE}(\\s|$)`, "m").test(text));
    return stanza && /^URIs:\s*(\S+)/m.exec(stanza)?.[1];
}
