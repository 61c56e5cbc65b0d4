import { ApiError, type Cluster, messageOf, statusOf } from "../cluster/client";
import type { Container } from "../cluster/exec";
import { problemOf } from "../cluster/problem";
import type { Prober, Target } from "../targets/containers";
import { commandFor, kindOf, noTool, type Question, toolNames } from "./tools";
import { quoted } from "../values/quoted";

const answerTimeoutMs = 10_000;
const maxOutput = 64_000;

interface Ran {
    exitCode: number;
    output: string;
}

/** The API server lets nothing be run in a container: for a missing right, an admission policy or a webhook. */
export class ExecRefused extends Error {}

/**
 * Runs a command in a container.
 *
 * @returns the exit code, and the beginning of what it prints
 * @throws ExecRefused with the words of whoever refuses it
 * @throws Error if the command could not be run for another reason
 */
export async function runWithin(cluster: Cluster, place: Container, command: readonly string[]): Promise<Ran> {
    let output = "";
    const onOutput = (printed: Buffer, isError: boolean) => {
        if (!isError && output.length < maxOutput) output += printed.toString();
    };
    // Its timer also keeps the process running: a connection that is closed silently leaves nothing else to wait for.
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), answerTimeoutMs);
    try {
        const { status, details, message } = await cluster.exec(place, command, onOutput, timeout.signal);
        const code = details?.causes?.find(({ reason }) => reason === "ExitCode")?.message;
        if (status === "Success") return { exitCode: 0, output };
        if (code !== undefined) return { exitCode: Number(code), output };
        throw new Error(message ? quoted(message) : "it was refused");
    } catch (error) {
        if (timeout.signal.aborted) throw new Error(`no answer within ${answerTimeoutMs} ms`);
        throw isRefusal(error) ? new ExecRefused(problemOf(error)) : error;
    } finally {
        clearTimeout(timer);
    }
}

/** Credentials that are rejected, and pods that are gone, are nobody's refusal. A webhook may choose the status. */
function isRefusal(error: unknown): boolean {
    if (!(error instanceof ApiError)) return false;
    const ofWebhook = /denied the request|failed calling webhook/;
    return [403, 422].includes(statusOf(error)!) || ofWebhook.test(messageOf(error));
}

/** Whether it worked, and what was printed; or why it could not be tried. */
export type ProbeResult = { worked: boolean; output: string } | { problem: string };

/**
 * Tries something from within a running container, or another of its pod, with the tools that this has. Adds nothing to
 * the pod, and leaves nothing: the process ends within seconds.
 *
 * @param timeoutMs what has not worked by then does not work
 */
export async function probe(
    cluster: Cluster,
    target: Pick<Target, "namespace" | "pod" | "container" | "prober">,
    question: Question,
    timeoutMs: number,
): Promise<ProbeResult> {
    const { container, program }: Prober = target.prober ?? { container: target.container };
    const where = `${target.pod}/${container}`;
    try {
        const command = commandFor(question, timeoutMs, program);
        const { exitCode, output } = await runWithin(cluster, { ...target, container }, command);
        if (exitCode !== noTool) return { worked: exitCode === 0, output };
        const tools = toolNames([kindOf(question)]);
        return { problem: `${where} has none of the tools to try it with (${tools})` };
    } catch (error) {
        return { problem: `nothing can be run in ${where}: ${problemOf(error)}` };
    }
}
