import { existsSync, readdirSync, rmSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { InstalledPart } from "./part";
import { type BuildLog, run } from "./run";

/** A Debian package, and a file of it by which to tell that it is there, whoever packaged it. */
interface DebianPackage {
    readonly name: string;
    /** A program to be found on PATH, or an absolute path. */
    readonly brings: string;
}

/** What the sandbox takes from Debian. `containerd` may also be Docker's package of it: its programs count. */
const PACKAGES: readonly DebianPackage[] = [
    { name: "etcd-server", brings: "etcd" },
    { name: "containerd", brings: "containerd" },
    { name: "runc", brings: "runc" },
    { name: "containernetworking-plugins", brings: "/usr/lib/cni/bridge" },
    { name: "iptables", brings: "iptables" },
    { name: "ipset", brings: "ipset" },
    { name: "conntrack", brings: "conntrack" },
    { name: "iproute2", brings: "ip" },
    { name: "mmdebstrap", brings: "mmdebstrap" },
];

/** Service units of these packages: the sandbox runs its own, so they are neither started nor left enabled. */
const UNITS = ["etcd.service", "containerd.service"];

/** The part that installs what is missing, and nothing where nothing is. */
export const debianPackages: InstalledPart = {
    kind: "installed",
    name: "debian-packages",
    version: "as Debian has them",
    title: "Debian packages",
    minutes: 1,
    needs: [],
    isPresent: async () => missingPackages().length === 0,
    install: async ({ log }) => installDebianPackages(missingPackages(), log),
};

/** The packages of {@link PACKAGES} whose programs are not on this machine. */
export function missingPackages(isThere: (program: string) => boolean = isProgram): string[] {
    return PACKAGES.filter((each) => !isThere(each.brings)).map((each) => each.name);
}

/** Whether a program is on PATH or in one of the administrator's folders, which a user's PATH may lack. */
export function isProgram(program: string): boolean {
    if (program.startsWith("/")) return existsSync(program);
    const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
    return folders.some((folder) => folder !== "" && existsSync(join(folder, program)));
}

/** Written by whoever must keep `apt-get` from starting services: exit status 101 means "do not". */
const SERVICE_POLICY = "/usr/sbin/policy-rc.d";
const POLICY_TEXT =
    "#!/bin/sh\n# Put here by the chaos-shop sandbox while it installs packages; remove at will.\nexit 101\n";

/**
 * Installs Debian packages with none of their services started or enabled for the next start of the machine.
 *
 * @throws {CommandError} with apt's own words.
 */
export async function installDebianPackages(names: readonly string[], log: BuildLog): Promise<void> {
    const unitsBefore = UNITS.filter(isUnitInstalled);
    const ours = await forbidServiceStarts();
    try {
        await updatePackageLists(log);
        const quiet = ["-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0"];
        // dpkg cut short in the middle leaves work for an administrator, so it may finish even if this process is killed.
        const options = { env: { DEBIAN_FRONTEND: "noninteractive" }, outlivesUs: true };
        await run("dpkg", ["--configure", "-a"], log, options);
        await run("apt-get", ["install", ...quiet, ...names], log, options);
        for (const unit of UNITS.filter((each) => !unitsBefore.includes(each))) disableUnit(unit);
    } finally {
        if (ours) await withdrawServicePolicy();
    }
}

/** Takes away our rule against starting services, which an install that was killed may have left. */
export async function withdrawServicePolicy(): Promise<void> {
    if (existsSync(SERVICE_POLICY) && (await readFile(SERVICE_POLICY, "utf8")) === POLICY_TEXT)
        await rm(SERVICE_POLICY);
}

/**
 * Fetches packages and unpacks them into a folder; nothing is installed. apt checks Debian's signatures.
 *
 * @returns the version of each package.
 */
export async function downloadDebianPackages(
    names: readonly string[],
    root: string,
    log: BuildLog,
): Promise<Record<string, string>> {
    const archives = `${root}.debs`;
    await mkdir(archives, { recursive: true });
    await updatePackageLists(log);
    // Debian's own user for downloads cannot write below root's cache; apt then says so at length.
    await run("apt-get", ["download", "-o", "APT::Sandbox::User=root", ...names], log, { cwd: archives });
    const versions: Record<string, string> = {};
    for (const archive of (await readdir(archives)).map((entry) => join(archives, entry))) {
        await run("dpkg-deb", ["-x", archive, root], log);
        const shown = await run("dpkg-deb", ["--show", "--showformat=${Package} ${Version}", archive], log);
        const [name = "", version = ""] = shown.split(" ");
        versions[name] = version;
    }
    await rm(archives, { recursive: true });
    return versions;
}

let listsAreFresh = false;

/** Once in a process; where it fails, an older list may still do, and if not, the install says what it lacks. */
async function updatePackageLists(log: BuildLog): Promise<void> {
    if (listsAreFresh) return;
    await run("apt-get", ["update", "-o", "DPkg::Lock::Timeout=300"], log).catch(() => undefined);
    listsAreFresh = true;
}

/** @returns whether the policy is ours to take away again; one of somebody else's stays as it is. */
async function forbidServiceStarts(): Promise<boolean> {
    if (existsSync(SERVICE_POLICY) && (await readFile(SERVICE_POLICY, "utf8")) !== POLICY_TEXT) return false;
    await writeFile(SERVICE_POLICY, POLICY_TEXT);
    await chmod(SERVICE_POLICY, 0o755);
    return true;
}

/**
 * Takes a unit out of what is started with the machine: removes the links that enabling it made, as `systemctl disable`
 * does, and also where there is no systemctl.
 *
 * @param folder where systemd keeps the administrator's choices.
 */
export function disableUnit(unit: string, folder = "/etc/systemd/system"): void {
    if (!existsSync(folder)) return;
    for (const target of readdirSync(folder).filter((entry) => /\.(wants|requires)$/.test(entry))) {
        rmSync(join(folder, target, unit), { force: true });
    }
}

function isUnitInstalled(unit: string): boolean {
    return ["/lib/systemd/system", "/usr/lib/systemd/system"].some((folder) => existsSync(join(folder, unit)));
}
