import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { anyGo, goToolchain } from "./go-toolchain";
import type { StoredPart, Workshop } from "./part";
import { run } from "./run";

/** How one Go program is built. */
export interface GoBuild {
    /** Absolute; its folder `modules` holds the module. */
    readonly sourceFolder: string;
    /** The folder under `modules`; its go.mod and go.sum pin all dependencies. */
    readonly module: string;
    /** Import path of the package. @default the module's own main */
    readonly package?: string;
    /** The name of the executable. */
    readonly output: string;
    /** Variables set by the linker: full name to value. */
    readonly variables?: Record<string, string>;
    /** A pattern of packages to compile without optimization, which is faster. @default none */
    readonly unoptimized?: string;
    /** A change to one file of a dependency. @default none */
    readonly patch?: Patch;
    /** Further names of the executable, as links in the folder `bin`, for PATH. */
    readonly links?: readonly string[];
}

/** One file of a dependency that is compiled with other text. */
interface Patch {
    /** As in go.mod, such as `k8s.io/kubernetes`. */
    readonly module: string;
    /** Relative to the module. */
    readonly file: string;
    /** Text that occurs once in the file, and what replaces it. */
    readonly replacements: readonly { readonly from: string; readonly to: string }[];
}

/** A part that is one Go program. */
export function goPart(about: Pick<StoredPart, "name" | "version" | "title" | "minutes">, build: GoBuild): StoredPart {
    // A package of another module depends on the pins, not on the module's own sources.
    const pins = ["go.mod", "go.sum"].map((file) => `modules/${build.module}/${file}`);
    return {
        ...about,
        kind: "stored",
        needs: [goToolchain],
        recipe: {
            arguments: goBuildArguments(build),
            output: build.output,
            links: build.links,
            patch: build.patch,
        },
        sources: build.package ? pins : [`modules/${build.module}`],
        sourceFolder: build.sourceFolder,
        make: (folder, workshop) => goBuild(build, folder, workshop),
    };
}

/**
 * The arguments of `go build` without the output path.
 *
 * The flags override GOFLAGS. `-mod=readonly` requires go.sum to cover everything: Go then never asks the checksum
 * database, which lacks some dependencies of the Kubernetes provider. `-buildvcs=false` ignores the checkout's state.
 */
export function goBuildArguments(build: Omit<GoBuild, "sourceFolder">): string[] {
    const variables = Object.entries(build.variables ?? {}).map(([name, value]) => `-X ${name}=${value}`);
    const args = ["build", "-v", "-mod=readonly", "-buildvcs=false", "-trimpath"];
    args.push("-ldflags", ["-s -w", ...variables].join(" "));
    if (build.unoptimized) args.push(`-gcflags=${build.unoptimized}=-N -l`);
    if (build.package) args.push(build.package);
    return args;
}

async function goBuild(build: GoBuild, folder: string, workshop: Workshop): Promise<Record<string, string>> {
    const go = anyGo();
    const [verb = "build", ...rest] = goBuildArguments(build);
    const options = {
        cwd: join(build.sourceFolder, "modules", build.module),
        env: { CGO_ENABLED: "0", GOWORK: "off", GO111MODULE: "on", GOTOOLCHAIN: "local" },
    };
    const patched = join(folder, "patched");
    const flags = build.patch ? [await patchModule(build.patch, patched, workshop, options)] : [];
    await run(go.path, [verb, "-o", join(folder, build.output), ...flags, ...rest], workshop.log, options);
    rmSync(patched, { recursive: true, force: true });
    if (build.links) mkdirSync(join(folder, "bin"));
    for (const link of build.links ?? []) symlinkSync(join("..", build.output), join(folder, "bin", link));
    return { go: go.version };
}

/**
 * Copies a dependency, changes it, and a go.mod that takes the copy. `go build -overlay` rejects files of the module
 * cache.
 *
 * @returns the flag for `go build`
 */
async function patchModule(
    { module, file, replacements }: Patch,
    folder: string,
    { log }: Workshop,
    options: { cwd: string; env: Record<string, string> },
): Promise<string> {
    const go = anyGo();
    mkdirSync(folder);
    for (const name of ["go.mod", "go.sum"]) copyFileSync(join(options.cwd, name), join(folder, name));
    const [copy, modFile] = [join(folder, "module"), join(folder, "go.mod")];
    // On a new machine it is not in the module cache yet.
    const download = ["mod", "download", `-modfile=${modFile}`, "-json", module];
    const { Dir: original } = JSON.parse(await run(go.path, download, log, options)) as { Dir: string };
    cpSync(original, copy, { recursive: true });
    // The module cache is read-only, and so is its copy.
    for (const path of [dirname(join(copy, file)), join(copy, file)]) chmodSync(path, 0o755);
    writeFileSync(join(copy, file), replaceOnce(readFileSync(join(original, file), "utf8"), replacements, file));
    await run(go.path, ["mod", "edit", `-replace=${module}=${copy}`, modFile], log, options);
    return `-modfile=${modFile}`;
}

/** @throws Error if a text does not occur exactly once: the dependency has changed */
export function replaceOnce(text: string, replacements: Patch["replacements"], file: string): string {
    return replacements.reduce((changed, { from, to }) => {
        const occurrences = changed.split(from).length - 1;
        if (occurrences !== 1) throw new Error(`${file} contains ${occurrences} times, not once: ${from}`);
        return changed.replace(from, () => to);
    }, text);
}
