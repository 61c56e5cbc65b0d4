import { existsSync, readFileSync } from "node:fs";
import { appendFile, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type BuildLog, run } from "../../toolchain/parts/run";

/** The Debian release of the images, as their names say. The host may have another. */
const SUITE = "bookworm";

/** The keys that sign it. A host of another distribution does not trust them by itself. */
export const DEBIAN_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

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
    // Created before the package, whose scripts then use it: the id is the official image's.
    const users = what.user ? userHooks(what.user) : [];
    await bootstrap([...users, ...debianArguments("essential", what.packages, root, hostMirror())], log);
    const question = [`--root=${root}`, "--show", "--showformat=${Package} ${Version}\\n"];
    const versions = await run("dpkg-query", [...question, ...what.packages], log);
    await rm(join(root, "etc/resolv.conf"), { force: true });
    await rm(join(root, "etc/hostname"), { force: true });
    return versionsIn(versions);
}

/**
 * Unpacks packages of the images' release, and what they depend on, into a folder. Nothing is installed.
 *
 * @returns the version of each of `packages`.
 * @throws {CommandError} with the output of mmdebstrap.
 */
export async function unpackDebian(
    packages: readonly string[],
    folder: string,
    log: BuildLog,
): Promise<Record<string, string>> {
    const list = `${folder}.versions`;
    const show = "dpkg-deb --show --showformat='${Package} ${Version}\\n'";
    const hooks = packages.map(
        (name) => `--extract-hook=${show} "$1"/var/cache/apt/archives/${name}_*.deb >> '${list}'`,
    );
    await bootstrap([...hooks, ...debianArguments("extract", packages, folder, hostMirror())], log);
    const versions = versionsIn((await readFile(list, "utf8")).trim());
    await rm(list);
    return versions;
}

/** The arguments of mmdebstrap. @param mirror of the release. @default Debian's own */
export function debianArguments(
    variant: "essential" | "extract",
    packages: readonly string[],
    folder: string,
    mirror = "http://deb.debian.org/debian",
): string[] {
    return [
        ...["--mode=root", `--variant=${variant}`, "--format=directory", `--keyring=${DEBIAN_KEYRING}`],
        ...UNREAD.map((path) => `--dpkgopt=path-exclude=${path}`),
        ...LICENSES.map((path) => `--dpkgopt=path-include=${path}`),
        ...(packages.length > 0 ? [`--include=${packages.join(",")}`] : []),
        ...[SUITE, folder, `deb ${mirror} ${SUITE} main`],
    ];
}

const bootstrap = (args: readonly string[], log: BuildLog) =>
    run("mmdebstrap", args, log, { env: { SOURCE_DATE_EPOCH: "0" } });

const versionsIn = (lines: string) =>
    Object.fromEntries(lines.split("\n").map((line) => line.split(" ") as [string, string]));

/** A user's lines in the files of /etc. */
export function userEntries(user: ImageUser): Record<"passwd" | "group", string> {
    return {
        passwd: `${user.name}:x:${user.id}:${user.id}::${user.home}:/bin/bash`,
        group: `${user.name}:x:${user.id}:`,
    };
}

export async function addUser(user: ImageUser, root: string): Promise<void> {
    for (const [file, line] of Object.entries(userEntries(user)))
        await appendFile(join(root, "etc", file), `${line}\n`);
}

function userHooks(user: ImageUser): string[] {
    return Object.entries(userEntries(user)).map(
        ([file, line]) => `--essential-hook=printf '%s\\n' '${line}' >> "$1/etc/${file}"`,
    );
}

/** The mirror from which this machine gets the release: it is reachable. Undefined if the machine runs another one. */
function hostMirror(): string | undefined {
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
