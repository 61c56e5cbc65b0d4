import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProgramInfo, RunRequest } from "@pulumi/pulumi/proto/language_pb";
import { STOP_GRACE_MILLISECONDS } from "../plugin";

/** How a program's run ended. */
export interface RunResult {
    /** Empty on success, and when the program has printed the error itself. */
    readonly error: string;
    /** The program has printed the error: the engine stops without a message. */
    readonly bail: boolean;
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
    const options = parseRuntimeOptions(info.getOptions()?.toJavaScript() ?? {});
    const environment: NodeJS.ProcessEnv = {
        ...process.env,
        PULUMI_CONFIG: JSON.stringify(configOf(request)),
        PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(request.getConfigsecretkeysList()),
    };
    if (options.typescript) environment.PULUMI_NODEJS_TYPESCRIPT = "true";
    if (options.tsconfig) environment.PULUMI_NODEJS_TSCONFIG_PATH = options.tsconfig;
    const runModule = process.env.PULUMI_LANGUAGE_NODEJS_RUN_PATH || "@pulumi/pulumi/cmd/run";
    const args = [
        ...options.nodeargs,
        locate(runModule, info.getProgramDirectory()),
        ...programArguments(request, info, engineAddress),
    ];
    const child = spawn("node", args, { env: environment, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.pipe(process.stdout, { end: false });
    child.stderr.pipe(process.stderr, { end: false });
    let outOfMemory = false;
    child.stderr.on("data", (text: Buffer) => (outOfMemory ||= text.includes("JavaScript heap out of memory")));
    const interrupt = () => interruptThenKill(child);
    cancelled.addEventListener("abort", interrupt, { once: true });
    try {
        return resultOf(await endOf(child), outOfMemory);
    } catch (error) {
        return { error: `could not start node, which must be on PATH: ${(error as Error).message}`, bail: false };
    } finally {
        cancelled.removeEventListener("abort", interrupt);
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

function locate(module: string, programDirectory: string): string {
    try {
        return createRequire(join(programDirectory, "package.json")).resolve(module);
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
        throw new Error(`${module} is not installed for the program in ${programDirectory}; run: npm install`);
    }
}

/**
 * Checks the `runtime.options` of a Pulumi.yaml.
 *
 * @param options as sent by the engine: `{ typescript: false, nodeargs: "--import tsx" }`.
 * @returns whether and with which tsconfig.json ts-node loads the program, and the arguments for `node`.
 * @throws an error with every wrong option, its value and the allowed values.
 */
export function parseRuntimeOptions(options: Readonly<Record<string, unknown>>) {
    const { typescript = true, tsconfig, nodeargs = "" } = options;
    const expected: [holds: boolean, name: string, allowed: string][] = [
        [typeof typescript === "boolean", "typescript", "true or false"],
        [tsconfig === undefined || typeof tsconfig === "string", "tsconfig", "a path"],
        [
            typeof nodeargs === "string" && !/["'\\]/.test(nodeargs),
            "nodeargs",
            "a string without quotes, for example --import tsx",
        ],
    ];
    const mistakes = expected
        .filter(([holds]) => !holds)
        .map(
            ([, name, allowed]) =>
                `runtime option ${name} is ${JSON.stringify(options[name])}, but must be ${allowed}; see Pulumi.yaml`,
        );
    if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
    const words = (nodeargs as string).split(/\s+/).filter((word) => word !== "");
    return { typescript: typescript as boolean, tsconfig: tsconfig as string | undefined, nodeargs: words };
}

function interruptThenKill(child: ChildProcess): void {
    child.kill("SIGINT");
    setTimeout(() => child.kill("SIGKILL"), STOP_GRACE_MILLISECONDS).unref();
}

type End = [code: number | null, signal: NodeJS.Signals | null];

/** @throws Error if it could not be started */
function endOf(child: ChildProcess): Promise<End> {
    // A grandchild may hold the output open for ever.
    const exited = once(child, "exit").then((end) => sleep(OUTPUT_DELAY_MILLISECONDS, end, { ref: false }));
    return Promise.race([once(child, "close"), exited]) as Promise<End>;
}

function resultOf([code, signal]: End, outOfMemory: boolean): RunResult {
    if (code === 0) return { error: "", bail: false };
    if (code === EXIT_ERROR_WAS_PRINTED) return { error: "", bail: true };
    const remedy = outOfMemory
        ? ". It ran out of memory; raise the limit in Pulumi.yaml, for example with the runtime option " +
          "nodeargs: --max-old-space-size=4096"
        : "";
    const how = signal ? `was ended by ${signal}` : `exited with non-zero exit code: ${code}`;
    return { error: `Program ${how}${remedy}`, bail: false };
}
