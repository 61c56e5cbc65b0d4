import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { updatePackageLists } from "../../toolchain/parts/debian";
import { isProgram } from "../../toolchain/parts/host";
import type { InstalledPart } from "../../toolchain/parts/part";
import { type BuildLog, run } from "../../toolchain/parts/run";
import { DEBIAN_KEYRING } from "./debian-root";

/**
 * Debian packages, and what shows that one is installed: a program on PATH, or an absolute path. Debian's containerd
 * may also be Docker's: its programs count.
 */
const PACKAGES = {
    "etcd-server": "etcd",
    containerd: "containerd",
    runc: "runc",
    "containernetworking-plugins": "/usr/lib/cni/bridge",
    iptables: "iptables",
    ipset: "ipset",
    conntrack: "conntrack",
    iproute2: "ip",
    procps: "sysctl",
    openssl: "openssl",
    mmdebstrap: "mmdebstrap",
    "debian-archive-keyring": DEBIAN_KEYRING,
};

/** Service units of these packages. The sandbox runs its own: they are neither started nor enabled. */
const UNITS = ["etcd.service", "containerd.service"];

export const debianPackages = debianPart({ name: "debian-packages", title: "Debian packages", minutes: 0.3 }, PACKAGES);

/** The folder with `clang`, for PATH. */
export const CLANG_FOLDER = "/usr/lib/llvm-19/bin";

/** Compiles Cilium's BPF programs while the node runs. */
export const debianClang = debianPart(
    { name: "debian-clang", title: "Debian's clang", minutes: 0.5 },
    { "clang-19": join(CLANG_FOLDER, "clang") },
);

function debianPart(
    about: Pick<InstalledPart, "name" | "title" | "minutes">,
    packages: Readonly<Record<string, string>>,
): InstalledPart {
    const missing = () => missingPackages(isProgram, packages);
    return {
        ...about,
        kind: "installed",
        version: "as Debian has them",
        needs: [],
        isPresent: async () => missing().length === 0 && !isPolicyOurs(),
        install: ({ log }) => installDebianPackages(missing(), log),
    };
}

/** The packages whose programs are not on this machine. */
export function missingPackages(
    isThere: (program: string) => boolean = isProgram,
    packages: Readonly<Record<string, string>> = PACKAGES,
): string[] {
    return Object.entries(packages).flatMap(([name, brings]) => (isThere(brings) ? [] : [name]));
}

/** Installs packages without starting or enabling their services. @throws {CommandError} with apt's message */
async function installDebianPackages(names: readonly string[], log: BuildLog): Promise<void> {
    const unitsBefore = UNITS.filter(isUnitInstalled);
    await forbidServiceStarts();
    try {
        await updatePackageLists(log);
        const quiet = ["-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0"];
        // An interrupted dpkg must be repaired by hand: it may finish even if this process is killed.
        const options = { env: { DEBIAN_FRONTEND: "noninteractive" }, outlivesUs: true };
        await run("dpkg", ["--configure", "-a"], log, options);
        await run("apt-get", ["install", ...quiet, ...names], log, options);
        for (const unit of UNITS.filter((each) => !unitsBefore.includes(each))) disableUnit(unit);
    } finally {
        if (isPolicyOurs()) await rm(SERVICE_POLICY);
    }
}

/** Tells Debian's package scripts whether to start services; exit status 101 means no. */
const SERVICE_POLICY = "/usr/sbin/policy-rc.d";
const POLICY_TEXT =
    "#!/bin/sh\n# Put here by the chaos-shop sandbox while it installs packages; remove at will.\nexit 101\n";

/** Also true for the policy of an install that was killed. */
function isPolicyOurs(): boolean {
    return existsSync(SERVICE_POLICY) && readFileSync(SERVICE_POLICY, "utf8") === POLICY_TEXT;
}

/** Leaves another program's policy in place. */
async function forbidServiceStarts(): Promise<void> {
    if (existsSync(SERVICE_POLICY)) return;
    await writeFile(SERVICE_POLICY, POLICY_TEXT);
    await chmod(SERVICE_POLICY, 0o755);
}

/**
 * Disables a unit as `systemctl disable` does, also where there is no systemctl: removes the links that enabled it.
 *
 * @param folder systemd's configuration of this machine.
 */
export function disableUnit(unit: string, folder = "/etc/systemd/system"): void {
    if (!existsSync(folder)) return;
    for (const target of readdirSync(folder).filter((entry) => /\.(wants|requires)$/.test(entry)))
        rmSync(join(folder, target, unit), { force: true });
}

function isUnitInstalled(unit: string): boolean {
    return ["/lib/systemd/system", "/usr/lib/systemd/system"].some((folder) => existsSync(join(folder, unit)));
}
