import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Cluster } from "../shared/kubernetes";

/** What a pod has in memory. */
export interface PodMemory {
    /** Of the pod: its label `app`. */
    workload: string;
    /** 10^6 bytes. */
    megabytes: number;
}

/** The resident memory of a namespace's pods now: of all processes of each, whatever files they share among it. */
export async function memoryOfPods({ core }: Cluster, context: string, namespace: string): Promise<PodMemory[]> {
    const { items } = await core.listNamespacedPod({ namespace, labelSelector: "app" });
    return Promise.all(
        items.map(async ({ metadata }) => {
            // The kubelet's working set leaves out what a process maps of files: half of what Node has in memory.
            // A process may end between being listed and being read: PostgreSQL has one for each connection.
            const shown = [
                "--context",
                context,
                "--namespace",
                namespace,
                "exec",
                metadata!.name!,
                "--",
                "sh",
                "-c",
                "cat /proc/[0-9]*/status 2>/dev/null || true",
            ];
            const { stdout } = await promisify(execFile)("kubectl", shown);
            return { workload: metadata!.labels!.app!, megabytes: residentMegabytes(stdout) };
        }),
    );
}

/**
 * The resident memory of the processes whose `/proc/PID/status` this is, the shell that printed it aside.
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
