import { execFileSync } from "node:child_process";
import { cpSync, readdirSync } from "node:fs";
import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { unpackPackages } from "./debian";
import { GO_ARCHITECTURE } from "./host";
import type { StoredPart, Workshop } from "./part";
import { run } from "./run";
import { folderOf } from "./store";

/** The oldest Go that can build the modules: the `go` line of their go.mod. */
const OLDEST_GO = [1, 26] as const;

/** The Go to download where there is none, or one that is too old. */
const VERSION = "1.26.8";

/** Its sums in the public checksum database. */
const SUMS: Partial<Record<string, string>> = {
    x64: "h1:ZOmGe1OnfREDMIdb1Qi4G9JSuDPBLGExZMQ4nis1RXM=",
    arm64: "h1:sYL/O6MqS68ML0kjsQ36WoYIpJqkw60TxizWUYUKQMc=",
};

/**
 * Go, for machines without one. Each Go toolchain is also published as a module, which any Go can download from the
 * module proxy. Debian's older Go does it here: it is unpacked for that, not installed, and not kept.
 */
export const goToolchain: StoredPart = {
    kind: "stored",
    name: "go",
    version: VERSION,
    title: "Go",
    minutes: 1,
    isCompiled: true, // Parts that may turn out to be compiled provide it.
    needs: [],
    recipe: { sums: SUMS },
    sources: [],
    sourceFolder: __dirname,
    isUnneeded: () => installedGo() !== undefined,
    make: downloadToolchain,
};

interface Go {
    readonly path: string;
    readonly version: string;
}

/** The machine's own Go, else the one of {@link goToolchain}. @throws if there is neither */
export function anyGo(): Go {
    const go = installedGo() ?? goAt(join(folderOf(goToolchain), "bin/go"));
    if (!go) throw new Error(`Go ${OLDEST_GO.join(".")} or later was not found`);
    return go;
}

function installedGo(): Go | undefined {
    const go = goAt("go");
    return go && isNewEnough(go.version) ? go : undefined;
}

/** Whether a version such as `1.26.8` or `1.27rc1` is at least {@link OLDEST_GO}. */
export function isNewEnough(version: string): boolean {
    const [major = 0, minor = 0] = version.split(/[.a-z]/).map(Number);
    return major > OLDEST_GO[0] || (major === OLDEST_GO[0] && minor >= OLDEST_GO[1]);
}

function goAt(path: string): Go | undefined {
    try {
        const environment = { ...process.env, GOTOOLCHAIN: "local" };
        const said = execFileSync(path, ["env", "GOVERSION"], { encoding: "utf8", env: environment, stdio: "pipe" });
        return { path, version: said.trim().replace(/^go/, "") };
    } catch {
        return undefined; // Not there, or not a Go.
    }
}

async function downloadToolchain(folder: string, workshop: Workshop): Promise<Record<string, string>> {
    const scratch = join(folder, "scratch");
    await mkdir(scratch);
    const debian = await unpackDebianGo(scratch, workshop);
    const module = `golang.org/toolchain@v0.0.1-go${VERSION}.linux-${GO_ARCHITECTURE[process.arch]}`;
    const modules = join(scratch, "modules");
    const answer = await run(debian.go, ["mod", "download", "-json", module], workshop.log, {
        cwd: scratch,
        env: { GOROOT: debian.root, GOMODCACHE: modules, GO111MODULE: "on", GOFLAGS: "-modcacherw" },
    });
    const { Sum: sum, Dir: source } = JSON.parse(answer) as { Sum: string; Dir: string };
    const expected = SUMS[process.arch];
    if (sum !== expected) throw new Error(`the sum of Go ${VERSION} is ${sum}; expected ${expected}`);
    cpSync(source, folder, { recursive: true });
    await rm(scratch, { recursive: true });
    // Files of a module have no execute permission.
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
    if (!release) throw new Error("Debian's golang-go depends on no golang-*-go package: its Go version is unknown");
    await unpackPackages([`golang-${release}-go`, `golang-${release}-src`], root, workshop.log);
    const goRoot = join(root, "usr/lib", `go-${release}`);
    if (!(await readdir(goRoot)).includes("bin")) throw new Error(`Debian's Go ${release} has no folder ${goRoot}/bin`);
    return { go: join(goRoot, "bin/go"), root: goRoot };
}
