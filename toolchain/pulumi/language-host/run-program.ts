import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProgramInfo, RunRequest } from "@pulumi/pulumi/proto/language_pb";
import { split } from "shlex";
import { untilEnded } from "../plugin";

/** How a program's run ended. */
export interface RunResult {
    /** Empty on success, and when the program has printed the error itself. */
    readonly error: string;
    /** The program has printed the error: the engine stops without a message. */
    readonly bail: boolean;
}

/** The `runtime.options` of a Pulumi.yaml. */
interface RuntimeOptions {
    /** Whether ts-node loads the program. @default true */
    typescript?: boolean;
    tsconfig?: string;
    /** Arguments for `node`, as a shell splits them. Nobody has validated it. */
    nodeargs?: unknown;
}

/** The SDK's exit code for "failed, and the error was printed" (cmd/run/index.js of @pulumi/pulumi). */
const EXIT_ERROR_WAS_PRINTED = 32;

/** How long to wait for the end of the output, which a process that the program started may hold open. */
const OUTPUT_DELAY_MILLISECONDS = 5_000;

/**
 * Runs a Pulumi program as the official host does: in a new Node process, by `cmd/run` of the SDK that is installed
 * with the program.
 *
 * @param cancelled interrupts the program when it aborts.
 */
export async function runProgram(
    request: RunRequest,
    engineAddress: string | undefined,
    cancelled: AbortSignal,
): Promise<RunResult> {
    // Sent by every CLI since 3.92; this host is installed beside a later one.
    const info = request.getInfo()!;
    const { typescript = true, tsconfig, nodeargs } = (info.getOptions()?.toJavaScript() ?? {}) as RuntimeOptions;
    const environment: NodeJS.ProcessEnv = {
        ...process.env,
        PULUMI_CONFIG: JSON.stringify(configOf(request)),
        PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(request.getConfigsecretkeysList()),
    };
    if (typescript) environment.PULUMI_NODEJS_TYPESCRIPT = "true";
    if (tsconfig) environment.PULUMI_NODEJS_TSCONFIG_PATH = tsconfig;
    const runModule = process.env.PULUMI_LANGUAGE_NODEJS_RUN_PATH || "@pulumi/pulumi/cmd/run";
    const args = [
        ...nodeArguments(nodeargs),
        locate(runModule, info.getProgramDirectory()),
        ...programArguments(request, info, engineAddress),
    ];
    const child = spawn("node", args, { env: environment, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.pipe(process.stdout, { end: false });
    child.stderr.pipe(process.stderr, { end: false });
    return untilEnded(child, endOf(child), cancelled, "SIGINT").then(resultOf, ({ message }: Error) => ({
        error: `could not start node, which must be on PATH: ${message}`,
        bail: false,
    }));
}

/** @throws Error that names the option, if it cannot be split */
export function nodeArguments(nodeargs: unknown): string[] {
    try {
        const text = nodeargs ?? "";
        if (typeof text !== "string") throw new Error("it is not a text");
        return split(text);
    } catch (error) {
        throw new Error(
            `runtime.options.nodeargs in Pulumi.yaml is ${JSON.stringify(nodeargs)}: ${(error as Error).message}; ` +
                "allowed: arguments for node, as a shell splits them",
        );
    }
}

/** The arguments of `cmd/run` as the official host passes them, without empty ones. */
function programArguments(request: RunRequest, info: ProgramInfo, engineAddress: string | undefined): string[] {
    const flags = Object.entries({
        monitor: request.getMonitorAddress(),
        engine: engineAddress,
        organization: request.getOrganization(),
        project: request.getProject(),
        "root-directory": info.getRootDirectory(),
        stack: request.getStack(),
        pwd: info.getProgramDirectory(),
        parallel: String(request.getParallel()),
    }).flatMap(([name, value]) => (value ? [`--${name}`, value] : []));
    return [...flags, ...(request.getDryrun() ? ["--dry-run"] : []), info.getEntryPoint(), ...request.getArgsList()];
}

/** The stack's configuration; every version of the SDK reads keys such as `project:config:name`. */
function configOf(request: RunRequest): Record<string, string> {
    const entries = [...request.getConfigMap().entries()] as [string, string][];
    return Object.fromEntries(
        entries.map(([key, value]) => [key.replace(/^([^:]*):(?:config:)?/, "$1:config:"), value]),
    );
}

export function locate(module: string, programDirectory: string): string {
    try {
        return createRequire(join(programDirectory, "package.json")).resolve(module);
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
        throw new Error(`${module} is not installed for the program in ${programDirectory}; run: npm install`);
    }
}

export type End = [code: number | null, signal: NodeJS.Signals | null];

/** @throws Error if it could not be started */
export function endOf(child: ChildProcess): Promise<End> {
    // A grandchild may hold the output open for ever.
    const exited = once(child, "exit").then((end) => sleep(OUTPUT_DELAY_MILLISECONDS, end, { ref: false }));
    return Promise.race([once(child, "close"), exited]) as Promise<End>;
}

function resultOf([code, signal]: End): RunResult {
    if (code === 0) return { error: "", bail: false };
    if (code === EXIT_ERROR_WAS_PRINTED) return { error: "", bail: true };
    const how = signal ? `was ended by ${signal}` : `exited with non-zero exit code: ${code}`;
    return { error: `Program ${how}`, bail: false };
}
