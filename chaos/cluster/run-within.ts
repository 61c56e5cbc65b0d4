import { exitCodeOf } from "../values/kubernetes-rules";
import { quoted } from "../values/quoted";
import { ApiError, type Cluster, messageOf, statusOf } from "./client";
import type { Container } from "./exec";
import { problemOf } from "./problem";

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
        const ended = await cluster.exec(place, command, onOutput, timeout.signal);
        const { status, message } = ended;
        const code = exitCodeOf(ended);
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

/** What runtimes say of a program that an image does not have, or that its user may not run. */
const notThere =
    /executable file.* not found|no such file or directory|error finding executable|exec: .*permission denied/i;
/** Exit codes of shells, with which a runtime may say the same. */
const notThereCodes = [126, 127];

/** Whether a container lacks the program of a command. @param ran how the command ended, or the error */
export const isLacking = (ran: unknown): boolean =>
    ran instanceof Error
        ? !(ran instanceof ExecRefused) && notThere.test(messageOf(ran))
        : notThereCodes.includes((ran as Ran).exitCode);
