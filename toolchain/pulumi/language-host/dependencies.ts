import { spawn } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { PackageManager, RuntimeOptions } from "./options";

/** An installed npm package. */
export interface Dependency {
    readonly name: string;
    readonly version: string;
}

/** A program's package manager: from its options, else from its lock file, else npm. */
export function packageManagerOf(options: RuntimeOptions, programDirectory: string): PackageManager {
    if (options.packagemanager !== "auto") {
        return options.packagemanager;
    }
    const lockFiles: [string, PackageManager][] = [
        ["yarn.lock", "yarn"],
        ["pnpm-lock.yaml", "pnpm"],
        ["bun.lock", "bun"],
        ["bun.lockb", "bun"],
    ];
    return lockFiles.find(([file]) => existsSync(join(programDirectory, file)))?.[1] ?? "npm";
}

/**
 * The installed packages of a program's package.json, with their versions.
 *
 * @param transitive also their dependencies, from an npm lock file.
 */
export function dependenciesOf(programDirectory: string, transitive: boolean): Dependency[] {
    if (transitive) {
        const lock = readJson<{ packages?: Record<string, { version?: string }> }>(
            programDirectory,
            "package-lock.json",
        );
        return Object.entries(lock?.packages ?? {}).flatMap(([path, { version }]) => {
            const name = path.split("node_modules/").at(-1);
            return path && name && version ? [{ name, version }] : [];
        });
    }
    const manifest = readJson<Record<"dependencies" | "devDependencies", Record<string, string>>>(
        programDirectory,
        "package.json",
    );
    const names = Object.keys({ ...manifest?.dependencies, ...manifest?.devDependencies });
    return names.flatMap((name) => {
        const installed = readJson<{ version?: string }>(programDirectory, join("node_modules", name, "package.json"));
        return installed?.version ? [{ name, version: installed.version }] : [];
    });
}

/**
 * Installs a program's packages.
 *
 * @param write receives the package manager's output.
 * @throws an error with the command and its exit code.
 */
export async function installDependencies(
    manager: PackageManager,
    programDirectory: string,
    write: (stream: "stdout" | "stderr", text: Buffer) => void,
): Promise<void> {
    const child = spawn(manager, ["install"], { cwd: programDirectory, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.on("data", (text: Buffer) => write("stdout", text));
    child.stderr.on("data", (text: Buffer) => write("stderr", text));
    await new Promise<void>((resolve, reject) => {
        child.on("error", (error) => reject(new Error(`cannot run ${manager} install: ${error.message}`)));
        child.on("close", (code, signal) =>
            code === 0
                ? resolve()
                : reject(
                      new Error(
                          `${manager} install in ${programDirectory} ended with ${signal ?? `exit code ${code}`}`,
                      ),
                  ),
        );
    });
}

/**
 * The version of a package manager, from its package.json; empty if that is not found. Running the command would take
 * longer than all else at the start of an update.
 */
export function versionOf(command: string): string {
    const path = pathOf(command);
    if (!existsSync(path)) return "";
    const above = dirname(dirname(realpathSync(path)));
    return readJson<{ version?: string }>(above, "package.json")?.version ?? "";
}

/** The full path of a command on PATH, or its bare name if it is not there. */
export function pathOf(command: string): string {
    const folders = (process.env.PATH ?? "").split(delimiter);
    return folders.map((folder) => join(folder, command)).find((path) => existsSync(path)) ?? command;
}

function readJson<T>(folder: string, file: string): T | undefined {
    try {
        return JSON.parse(readFileSync(join(folder, file), "utf8")) as T;
    } catch {
        return undefined; // Missing or broken: the caller leaves it out.
    }
}
