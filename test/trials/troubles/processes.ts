import { readFileSync } from "node:fs";
import { cgroupProcesses } from "../../../sandbox/node/cgroups";

/**
 * Sends a signal to all processes of a container: in the sandbox they are processes of this machine.
 *
 * @param containerId as in a pod's status: `containerd://…`
 * @throws Error if the container has no process
 */
export function signalContainer(containerId: string, signal: NodeJS.Signals): void {
    const id = containerId.replace(/^.*:\/\//, "");
    const pids = cgroupProcesses("pods").filter((pid) => cgroupOf(pid).includes(id));
    if (pids.length === 0) throw new Error(`container ${containerId} has no process`);
    for (const pid of pids) process.kill(pid, signal);
}

/** The cgroups of a process. Empty if it has ended. */
function cgroupOf(pid: number): string {
    try {
        return readFileSync(`/proc/${pid}/cgroup`, "utf8");
    } catch {
        return "";
    }
}
