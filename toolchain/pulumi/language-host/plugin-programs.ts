import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as language from "@pulumi/pulumi/proto/language_pb";
import { untilEnded } from "../plugin";
import { endOf, locate } from "./run-program";

interface Call<Response> {
    write(response: Response): void;
}

/** Runs a plugin from its sources, as the official host does: in a new Node process, by `cmd/run-plugin` of its SDK. */
export async function runPlugin(
    request: language.RunPluginRequest,
    call: Call<language.RunPluginResponse>,
    cancelled: AbortSignal,
): Promise<void> {
    const folder = request.getInfo()!.getProgramDirectory();
    const variables = request.getEnvList().map((one) => [one.replace(/=.*/s, ""), one.replace(/^[^=]*=/, "")]);
    const child = spawn("node", [locate("@pulumi/pulumi/cmd/run-plugin", folder), folder, ...request.getArgsList()], {
        cwd: request.getPwd(),
        env: variables.length === 0 ? process.env : (Object.fromEntries(variables) as NodeJS.ProcessEnv),
        stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.on("data", (bytes: Buffer) => call.write(new language.RunPluginResponse().setStdout(bytes)));
    child.stderr.on("data", (bytes: Buffer) => call.write(new language.RunPluginResponse().setStderr(bytes)));
    call.write(new language.RunPluginResponse().setExitcode(await exitCodeOf(child, cancelled)));
}

/** Installs what a program or a plugin depends on, in the folder of its workspace if it has one. */
export async function installDependencies(
    request: language.InstallDependenciesRequest,
    call: Call<language.InstallDependenciesResponse>,
    cancelled: AbortSignal,
): Promise<void> {
    const folder = request.getInfo()!.getProgramDirectory();
    const child = spawn("npm", ["install", "--loglevel=error"], {
        cwd: workspaceOf(folder) ?? folder,
        stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.on("data", (bytes: Buffer) => call.write(new language.InstallDependenciesResponse().setStdout(bytes)));
    child.stderr.on("data", (bytes: Buffer) => call.write(new language.InstallDependenciesResponse().setStderr(bytes)));
    const code = await exitCodeOf(child, cancelled);
    if (code !== 0) throw new Error(`npm install in ${folder} exited with non-zero exit code: ${code}`);
}

async function exitCodeOf(child: ChildProcess, cancelled: AbortSignal): Promise<number> {
    const [code] = await untilEnded(child, endOf(child), cancelled, "SIGTERM");
    return code ?? 1;
}

/** The folder above whose package.json names this one among its workspaces. */
function workspaceOf(folder: string): string | undefined {
    for (let above = dirname(folder); above !== dirname(above); above = dirname(above)) {
        const manifest = join(above, "package.json");
        if (!existsSync(manifest)) continue;
        const { workspaces } = JSON.parse(readFileSync(manifest, "utf8")) as { workspaces?: string[] };
        if (Array.isArray(workspaces) && workspaces.some((one) => join(above, one) === folder)) return above;
    }
    return undefined;
}
