import { cpSync, readdirSync } from "node:fs";
import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { GO_ARCHITECTURE } from "./architecture";
import { downloadDebianPackages } from "./debian";
import { installedGo } from "./go";
import type { StoredPart, Workshop } from "./part";
import { run } from "./run";

/** The Go that is fetched where there is none or too old a one. */
const VERSION = "1.26.8";

/** Its sums in the public checksum database. */
const SUMS: Partial<Record<string, string>> = {
    x64: "h1:ZOmGe1OnfREDMIdb1Qi4G9JSuDPBLGExZMQ4nis1RXM=",
    arm64: "h1:sYL/O6MqS68ML0kjsQ36WoYIpJqkw60TxizWUYUKQMc=",
};

/**
 * Go itself, for machines without one. Go publishes each toolchain as a module too, so that any Go, even Debian's older
 * one, can fetch it from the module proxy. Debian's is only unpacked for that, not installed, and not kept.
 */
export const goToolchain: StoredPart = {
    kind: "stored",
    name: "go",
    version: VERSION,
    title: "Go",
    minutes: 1,
    needs: [],
    recipe: { sums: SUMS },
    sources: [],
    isUnneeded: () => installedGo() !== undefined,
    make: fetchToolchain,
};

async function fetchToolchain(folder: string, workshop: Workshop): Promise<Record<string, string>> {
    const scratch = join(folder, "scratch");
    await mkdir(scratch);
    const fetcher = await unpackDebianGo(scratch, workshop);
    const module = `golang.org/toolchain@v0.0.1-go${VERSION}.linux-${GO_ARCHITECTURE[process.arch]}`;
    const modules = join(scratch, "modules");
    const answer = await run(fetcher.go, ["mod", "download", "-json", module], workshop.log, {
        cwd: scratch,
        env: { GOROOT: fetcher.root, GOMODCACHE: modules, GO111MODULE: "on", GOFLAGS: "-modcacherw" },
    });
    const { Sum: sum, Dir: source } = JSON.parse(answer) as { Sum: string; Dir: string };
    const expected = SUMS[process.arch];
    if (sum !== expected) throw new Error(`Go ${VERSION} came with the sum ${sum} instead of ${expected}`);
    cpSync(source, folder, { recursive: true });
    await rm(scratch, { recursive: true });
    // A module's files carry no execute permission.
    const programs = ["bin", "pkg/tool"].flatMap((under) =>
        readdirSync(join(folder, under), { recursive: true }).map((entry) => join(folder, under, String(entry))),
    );
    for (const program of programs) await chmod(program, 0o755);
    return { sum };
}

async function unpackDebianGo(scratch: string, workshop: Workshop): Promise<{ go: string; root: string }> {
    const root = join(scratch, "debian");
    const dependencies = await run("apt-cache", ["depends", "golang-go"], workshop.log);
    const release = /golang-([\d.]+)-go\b/.exec(dependencies)?.[1];
    if (!release)
        throw new Error("Debian's golang-go depends on no golang-*-go package: cannot tell which Go it brings");
    await downloadDebianPackages([`golang-${release}-go`, `golang-${release}-src`], root, workshop.log);
    const goRoot = join(root, "usr/lib", `go-${release}`);
    if (!(await readdir(goRoot)).includes("bin")) throw new Error(`Debian's Go ${release} is not where it used to be`);
    return { go: join(goRoot, "bin/go"), root: goRoot };
}
