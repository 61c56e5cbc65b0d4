import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { anyGo, goToolchain } from "./go-toolchain";
import type { StoredPart, Workshop } from "./part";
import { type BuildLog, run } from "./run";

/** How Go programs are built. */
export interface GoBuild {
    /** Absolute; its folder `modules` holds the module. */
    readonly sourceFolder: string;
    /** The folder under `modules`; its go.mod and go.sum pin all dependencies. */
    readonly module: string;
    /** The programs' packages. The last element of an import path is the name of the executable. */
    readonly packages: readonly string[];
    /** Variables set by the linker: full name to value. */
    readonly variables?: Record<string, string>;
    /** A dependency that is compiled with other text. @default none */
    readonly patch?: Patch;
    /** Further names of executables, as links in the folder `bin`, for PATH: name to executable. */
    readonly links?: Readonly<Record<string, string>>;
    /** What the programs need besides: path in the part to folder of a dependency. @default none */
    readonly copies?: Readonly<Record<string, ModuleFolder>>;
}

interface ModuleFolder {
    /** As in go.mod. */
    readonly module: string;
    /** Its path in the module. */
    readonly folder: string;
}

interface Patch {
    /** As in go.mod, such as `k8s.io/kubernetes`. */
    readonly module: string;
    /** The changes of each file, by its path in the module. */
    readonly files: Readonly<Record<string, readonly Change[]>>;
}

interface Change {
    /** Occurs once in the file. */
    readonly from: string | RegExp;
    readonly to: string;
}

/** A part that is some Go programs of one module. */
export function goPart(about: Pick<StoredPart, "name" | "version" | "title" | "minutes">, build: GoBuild): StoredPart {
    const asText = (_: string, value: unknown) => (value instanceof RegExp ? String(value) : value);
    const { links, patch, copies } = build;
    return {
        ...about,
        kind: "stored",
        isCompiled: true,
        needs: [goToolchain],
        recipe: JSON.stringify({ arguments: goBuildArguments(build), links, patch, copies }, asText),
        sources: [`modules/${build.module}`],
        sourceFolder: build.sourceFolder,
        make: (folder, workshop) => goBuild(build, folder, workshop),
    };
}

/**
 * The arguments of `go build` without the output path.
 *
 * The flags override GOFLAGS. `-mod=readonly` requires go.sum to cover everything: Go then never asks the checksum
 * database, which lacks some dependencies of the Kubernetes provider. `-buildvcs=false` ignores the checkout's state.
 * Without debugging information (DWARF) compiling takes an eighth less time. The flags are the same for all programs:
 * Go then compiles a package that several of them use once.
 */
export function goBuildArguments(build: Pick<GoBuild, "packages" | "variables">): string[] {
    const variables = Object.entries(build.variables ?? {}).map(([name, value]) => `-X ${name}=${value}`);
    return [
        ...["build", "-v", "-mod=readonly", "-buildvcs=false", "-trimpath", "-gcflags=all=-dwarf=false"],
        ...["-ldflags", ["-s -w", ...variables].join(" ")],
        ...build.packages,
    ];
}

/**
 * Collecting no garbage saves a quarter of a compiler's time. Where the compilers, one for each core, would need more
 * than half of the memory, they collect it.
 */
function compilerMemory(): NodeJS.ProcessEnv {
    const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
    return { GOGC: "off", GOMEMLIMIT: `${Math.floor(memory / 2 ** 21 / availableParallelism())}MiB` };
}

/** Runs Go in a module, and returns what it prints. */
type Go = (...args: readonly string[]) => Promise<string>;

async function goBuild(build: GoBuild, folder: string, { log }: Workshop): Promise<Record<string, string>> {
    const { path: program, version } = anyGo();
    const cwd = join(build.sourceFolder, "modules", build.module);
    const env = { CGO_ENABLED: "0", GOWORK: "off", GO111MODULE: "on", GOTOOLCHAIN: "local", ...compilerMemory() };
    const go: Go = (...args) => run(program, args, log, { cwd, env });
    const [verb = "build", ...rest] = goBuildArguments(build);
    const patched = join(folder, "patched");
    const flags = build.patch ? [await patchModule(build.patch, cwd, patched, go, log)] : [];
    await go(verb, "-o", `${folder}/`, ...flags, ...rest);
    rmSync(patched, { recursive: true, force: true });
    for (const [link, program] of Object.entries(build.links ?? {})) {
        mkdirSync(join(folder, "bin"), { recursive: true });
        symlinkSync(join("..", program), join(folder, "bin", link));
    }
    for (const [path, copied] of Object.entries(build.copies ?? {}))
        await copyFolder(join(await moduleFolder(copied.module, go), copied.folder), join(folder, path), log);
    return { go: version };
}

/**
 * Copies a dependency, changes it, and a go.mod that takes the copy. `go build -overlay` rejects files of the module
 * cache.
 *
 * @param from the folder of the module
 * @returns the flag for `go build`
 */
async function patchModule({ module, files }: Patch, from: string, folder: string, go: Go, log: BuildLog) {
    mkdirSync(folder);
    for (const name of ["go.mod", "go.sum"]) copyFileSync(join(from, name), join(folder, name));
    const [copy, modFile] = [join(folder, "module"), join(folder, "go.mod")];
    await copyFolder(await moduleFolder(module, go, `-modfile=${modFile}`), copy, log);
    for (const [file, changes] of Object.entries(files)) {
        const path = join(copy, file);
        writeFileSync(path, changed(readFileSync(path, "utf8"), changes, file));
    }
    await go("mod", "edit", `-replace=${module}=${copy}`, modFile);
    return `-modfile=${modFile}`;
}

/** The folder of a dependency in the module cache. On a new machine it is not there yet. */
async function moduleFolder(module: string, go: Go, ...flags: readonly string[]): Promise<string> {
    return (JSON.parse(await go("mod", "download", ...flags, "-json", module)) as { Dir: string }).Dir;
}

/** Copies a folder of the module cache, which is read-only; the copy is not. */
async function copyFolder(from: string, to: string, log: BuildLog): Promise<void> {
    mkdirSync(dirname(to), { recursive: true });
    await run("cp", ["--recursive", "--no-preserve=mode", "--no-target-directory", from, to], log);
}

/** @throws Error if a text does not occur exactly once: the dependency has changed */
export function changed(text: string, changes: readonly Change[], file: string): string {
    return changes.reduce((before, { from, to }) => {
        const occurrences = before.split(from).length - 1;
        if (occurrences !== 1) throw new Error(`${file} contains ${occurrences} times, not once: ${from}`);
        return before.replace(from, () => to);
    }, text);
}
