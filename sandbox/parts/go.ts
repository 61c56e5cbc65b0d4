import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { SANDBOX_FOLDER } from "./fingerprint";
import type { StoredPart, Workshop } from "./part";
import { run } from "./run";

/** The oldest Go that the modules under sandbox/modules take: the `go` line of their go.mod. */
export const OLDEST_GO = [1, 26] as const;

/** How one Go program is built. */
export interface GoBuild {
    /** The folder under sandbox/modules whose go.mod and go.sum pin everything. */
    readonly module: string;
    /** The package, by its import path. @default the module's own main */
    readonly package?: string;
    /** The name of the executable. */
    readonly output: string;
    /** Variables set by the linker: full name to value. */
    readonly variables?: Record<string, string>;
    /** A pattern of packages that are not optimized, which builds them faster. @default none */
    readonly unoptimized?: string;
    /** Further names of the executable, each a link in the folder `bin`, which so may be put on PATH. */
    readonly links?: readonly string[];
}

/** A part that is one Go program. */
export function goPart(about: Pick<StoredPart, "name" | "version" | "title" | "minutes">, build: GoBuild): StoredPart {
    // A package of another module does not see the module's own sources, only its pins.
    const pins = ["go.mod", "go.sum"].map((file) => `modules/${build.module}/${file}`);
    return {
        ...about,
        kind: "stored",
        needs: ["go"],
        recipe: { arguments: goBuildArguments(build), output: build.output, links: build.links },
        sources: build.package ? pins : [`modules/${build.module}`],
        make: (folder, workshop) => goBuild(build, folder, workshop),
    };
}

/**
 * The arguments of `go build`, beside where the output goes.
 *
 * Flags of the command win over GOFLAGS: go.sum must cover all there is (`-mod=readonly`), so the checksum database is
 * never asked, which does not know some of the Kubernetes provider's dependencies; and the checkout's state is no input.
 */
export function goBuildArguments(build: GoBuild): string[] {
    const variables = Object.entries(build.variables ?? {}).map(([name, value]) => `-X ${name}=${value}`);
    const args = ["build", "-v", "-mod=readonly", "-buildvcs=false", "-trimpath"];
    args.push("-ldflags", ["-s -w", ...variables].join(" "));
    if (build.unoptimized) args.push(`-gcflags=${build.unoptimized}=-N -l`);
    if (build.package) args.push(build.package);
    return args;
}

async function goBuild(build: GoBuild, folder: string, workshop: Workshop): Promise<Record<string, string>> {
    const go = installedGo() ?? goAt(join(workshop.folderOf("go"), "bin/go"));
    if (!go) throw new Error(`there is no Go ${OLDEST_GO.join(".")} or later to build ${build.output} with`);
    const [verb = "build", ...rest] = goBuildArguments(build);
    await run(go.path, [verb, "-o", join(folder, build.output), ...rest], workshop.log, {
        cwd: join(SANDBOX_FOLDER, "modules", build.module),
        env: { CGO_ENABLED: "0", GOWORK: "off", GO111MODULE: "on", GOTOOLCHAIN: "local" },
    });
    if (build.links) mkdirSync(join(folder, "bin"));
    for (const link of build.links ?? []) symlinkSync(join("..", build.output), join(folder, "bin", link));
    return { go: go.version };
}

/** The Go on PATH, if it is new enough. */
export function installedGo(): { path: string; version: string } | undefined {
    const go = goAt("go");
    return go && isNewEnough(go.version) ? go : undefined;
}

/** Whether a version such as `1.26.8` or `1.27rc1` is at least {@link OLDEST_GO}. */
export function isNewEnough(version: string): boolean {
    const [major = 0, minor = 0] = version.split(/[.a-z]/).map(Number);
    return major > OLDEST_GO[0] || (major === OLDEST_GO[0] && minor >= OLDEST_GO[1]);
}

function goAt(path: string): { path: string; version: string } | undefined {
    try {
        const environment = { ...process.env, GOTOOLCHAIN: "local" };
        const said = execFileSync(path, ["env", "GOVERSION"], { encoding: "utf8", env: environment, stdio: "pipe" });
        return { path, version: said.trim().replace(/^go/, "") };
    } catch {
        return undefined; // Not there, or not a Go: either way it is none to build with.
    }
}
