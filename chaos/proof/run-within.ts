import { Exec, type V1Status } from "@kubernetes/client-node";
import { PassThrough, Writable } from "node:stream";
import { type Cluster, messageOf, statusOf } from "../cluster/client";
import { forgetCredentials } from "../cluster/exec-plugin";
import { problemOf } from "../cluster/problem";
import type { Prober, Target } from "../targets/containers";
import { commandFor, kindOf, noTool, type Question, toolNames } from "./tools";
import { quoted } from "../quoted";

const answerTimeoutMs = 10_000;
const maxOutput = 64_000;

type Place = Pick<Target, "namespace" | "pod" | "container">;

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
export async function runWithin(cluster: Cluster, place: Place, command: readonly string[]): Promise<Ran> {
    try {
        return await execute(cluster, place, command);
    } catch (error) {
        // Credentials that are rejected, and pods that are gone, are nobody's refusal.
        const refused = /Unexpected server response: (?!401|404)[45]\d\d$/.test(messageOf(error));
        throw (refused && (await refusalOf(cluster, place, command))) || error;
    }
}

/** A WebSocket's refusal brings its status alone. A plain request that is let through only lacks the upgrade. */
async function refusalOf(
    cluster: Cluster,
    { namespace, pod: name, container }: Place,
    [command]: readonly string[],
): Promise<ExecRefused | undefined> {
    try {
        await core.connectPostNamespacedPodExec({ name, namespace, container, command, stdout: true });
        return undefined;
    } catch (error) {
        // A webhook may choose another status, or not answer.
        const ofWebhook = /denied the request|failed calling webhook/;
        const isRefused = [403, 422].includes(statusOf(error) ?? 0) || ofWebhook.test(messageOf(error));
        return isRefused ? new ExecRefused(problemOf(error)) : undefined;
    }
}

function execute(
    { kubeconfig }: Cluster,
    { namespace, pod, container }: Place,
    command: readonly string[],
): Promise<Ran> {
    let giveUp: NodeJS.Timeout;
    const ended = new Promise<Ran>((resolve, reject) => {
        let output = "";
        const printed = new Writable({
            write(chunk: Buffer, _, done) {
                if (output.length < maxOutput) output += chunk.toString();
                done();
            },
        });
        const onStatus = (status: V1Status) => {
            const code = status.details?.causes?.find(({ reason }) => reason === "ExitCode")?.message;
            if (status.status === "Success") resolve({ exitCode: 0, output });
            else if (code !== undefined) resolve({ exitCode: Number(code), output });
            else reject(new Error(status.message ? quoted(status.message) : "it was refused"));
        };
        const ignored = new PassThrough().resume();
        // Also keeps the process running: a connection that is closed silently leaves nothing else to wait for.
        giveUp = setTimeout(() => reject(new Error(`no answer within ${answerTimeoutMs} ms`)), answerTimeoutMs);
        const asked = Date.now();
        new Exec(kubeconfig)
            .exec(namespace, pod, container, [...command], printed, ignored, null, false, onStatus)
            .catch((error: Error) => {
                if (messageOf(error).endsWith(" 401")) forgetCredentials(asked);
                reject(error);
            });
    });
    return ended.finally(() => clearTimeout(giveUp));
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
