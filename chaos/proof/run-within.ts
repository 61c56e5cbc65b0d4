import { Exec, type V1Status } from "@kubernetes/client-node";
import { PassThrough } from "node:stream";
import { type Cluster, messageOf } from "../cluster/client";
import { forgetCredentials } from "../cluster/exec-plugin";

const answerTimeoutMs = 10_000;

/** Runs a command in a container. @returns the exit code @throws Error if the command could not be run */
export function runWithin(
    { kubeconfig }: Cluster,
    { namespace, pod, container }: { namespace: string; pod: string; container: string },
    command: readonly string[],
): Promise<number> {
    let giveUp: NodeJS.Timeout;
    const ended = new Promise<number>((resolve, reject) => {
        const onStatus = (status: V1Status) => {
            const code = status.details?.causes?.find(({ reason }) => reason === "ExitCode")?.message;
            if (status.status === "Success") resolve(0);
            else if (code !== undefined) resolve(Number(code));
            else reject(new Error(status.message ?? "it was refused"));
        };
        const ignored = new PassThrough().resume();
        // Also keeps the process running: a connection that is closed silently leaves nothing else to wait for.
        giveUp = setTimeout(() => reject(new Error(`no answer within ${answerTimeoutMs} ms`)), answerTimeoutMs);
        const asked = Date.now();
        new Exec(kubeconfig)
            .exec(namespace, pod, container, [...command], ignored, ignored, null, false, onStatus)
            .catch((error: Error) => {
                if (messageOf(error).endsWith(" 401")) forgetCredentials(asked);
                reject(error);
            });
    });
    return ended.finally(() => clearTimeout(giveUp));
}
