import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Cluster } from "../chaos/cluster/client";
import { fullLoad, type Message } from "./load";
import type { Session } from "./session";

export interface PodMemory {
    /** The pod's label `app`. */
    workload: string;
    /** 10^6 bytes. */
    megabytes: number;
}

/** `gateway 82, hot-deals 74` */
export function describePods(pods: readonly PodMemory[]): string {
    return pods.map(({ workload, megabytes }) => `${workload} ${megabytes.toFixed(0)}`).join(", ");
}

/** Time for heaps to settle. */
export const loadSeconds = 15;

/** The memory of a namespace's pods near the end of a full load, the largest first. @param next see `fullLoad` */
export async function memoryUnderLoad(
    { cluster, context }: Pick<Session, "cluster" | "context">,
    namespace: string,
    url: string,
    next?: () => Message,
) {
    const [load, pods] = await Promise.all([
        fullLoad(url, loadSeconds, next),
        sleep((loadSeconds - 1) * 1_000).then(() => memoryOfPods(cluster, context, namespace)),
    ]);
    const samples = Object.fromEntries(pods.map(({ workload, megabytes }) => [workload, [megabytes]]));
    return { load, pods: pods.sort((a, b) => b.megabytes - a.megabytes), samples };
}

/** The resident memory of a namespace's pods: the sum over the processes of each, with shared files. */
async function memoryOfPods({ core }: Cluster, context: string, namespace: string): Promise<PodMemory[]> {
    const { items } = await core.listNamespacedPod({ namespace, labelSelector: "app" });
    return Promise.all(
        items.map(async ({ metadata }) => {
            // The kubelet's working set omits mapped files: half of Node's memory.
            // A process may end between listing and reading: PostgreSQL has one per connection.
            const pod = ["--context", context, "--namespace", namespace, "exec", metadata!.name!];
            const show = ["sh", "-c", "cat /proc/[0-9]*/status 2>/dev/null || true"];
            const { stdout } = await promisify(execFile)("kubectl", [...pod, "--", ...show]);
            return { workload: metadata!.labels!.app!, megabytes: residentMegabytes(stdout) };
        }),
    );
}

/**
 * The resident memory of the processes with these `/proc/PID/status`, without the shell that printed them.
 *
 * @returns megabytes of 10^6 bytes; VmRSS is in KiB (proc_pid_status(5))
 */
export function residentMegabytes(statuses: string): number {
    const processes = statuses.split(/^(?=Name:)/m).filter((status) => !/^Name:\s+(?:sh|dash|cat)$/m.test(status));
    return (
        (processes.reduce((sum, status) => sum + Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0), 0) * 1_024) /
        1e6
    );
}
