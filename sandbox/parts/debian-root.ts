import { existsSync, readFileSync } from "node:fs";
import { appendFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type BuildLog, run } from "../../toolchain/parts/run";

/** The Debian release of the images, as their names say. The host may have another. */
const SUITE = "bookworm";

/** Files that no container reads: half of the size. The license texts stay. */
const UNREAD = ["man/*", "info/*", "locale/*", "doc/*/*", "lintian/*"].map((path) => `/usr/share/${path}`);
const LICENSES = ["/usr/share/doc/*/copyright"];

/** A user of an image, with a group of the same name and id. */
export interface ImageUser {
    readonly name: string;
    readonly id: number;
    readonly home: string;
}

/** The content of a Debian root file system. */
export interface DebianRoot {
    /** In addition to Debian's essential packages. */
    readonly packages: readonly string[];
    readonly user?: ImageUser;
}

/**
 * Creates a Debian root file system. apt checks Debian's signatures.
 *
 * @returns the version of each of `packages`.
 * @throws {CommandError} with the output of mmdebstrap.
 */
export async function makeDebianRoot(what: DebianRoot, root: string, log: BuildLog): Promise<Record<string, string>> {
    const unread = UNREAD.map((path) => `--dpkgopt=path-exclude=${path}`);
    const kept = LICENSES.map((path) => `--dpkgopt=path-include=${path}`);
    // Created before the package, whose scripts then use it: the id is the official image's.
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

/** A user's lines in the files of /etc. */
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
 * The mirror from which this machine gets the release: it is reachable. Undefined if the machine runs another release;
 * mmdebstrap then uses Debian's own mirror.
 */
function debianMirror(): string | undefined {
    const files = ["/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"];
    return files
        .filter((file) => existsSync(file))
        .map((file) => mirrorIn(readFileSync(file, "utf8")))
        .find((mirror) => mirror !== undefined);
}

/** Finds the mirror of the release in apt's sources, in either of its two formats. */
export function mirrorIn(sources: string): string | undefined {
    const oneLine = new RegExp(`^deb\\s+(?:\\[[^\\]]*\\]\\s+)?(\\S+)\\s+${SUITE}\\s`, "m").exec(sources);
    if (oneLine) return oneLine[1];
    const stanza = sources.split(/\n\s*\n/).find((text) => new RegExp(`^Suites:.*\\b${SUITE}(\\s|$)`, "m").test(text));
    return stanza && /^URIs:\s*(\S+)/m.exec(stanza)?.[1];
}
