import { readdirSync, readFileSync } from "node:fs";
import type { KubeObject } from "../../../chaos/values/kubernetes-types";
import { onlyReads, programMark, programOf } from "../../../chaos/kinds/attacks/stress/stress-programs";
import { inputFrom, type StepName, variables } from "../../../chaos/run/contract";
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

/** The processes of programs that load a pod, or only read what it uses. In the sandbox, they are of this machine. */
export const programsIn = ({ metadata }: KubeObject): number[] =>
    cgroupProcesses("pods")
        .filter((pid) => cgroupOf(pid).includes(`/pod${metadata!.uid}/`))
        .filter((pid) => factOf(pid, "cmdline").includes(programMark));

const argsOfReading = programOf("perl", { ...onlyReads, files: [] })
    .slice(-4)
    .join("\0");

/** Those that load it. */
export const stressingIn = (pod: KubeObject): number[] =>
    programsIn(pod).filter((pid) => !factOf(pid, "cmdline").includes(`\0${argsOfReading}\0`));

/** The processes of a step of the experiment in a namespace: its program, and the shell that waits for it. */
export function processesOfStep(step: StepName, namespace: string): number[] {
    const pids = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []));
    return pids.filter((pid) => {
        const commandLine = factOf(pid, "cmdline").replace(/\0$/, "");
        if (!new RegExp(`[ \\0]${step}$`).test(commandLine)) return false;
        const pairs = factOf(pid, "environ").split("\0");
        const env = Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s, 2)));
        return variables.input in env && inputFrom(env).plan.namespace === namespace;
    });
}

const cgroupOf = (pid: number) => factOf(pid, "cgroup");

/** What the kernel says of a process. Empty if it has ended. */
function factOf(pid: number, name: string): string {
    try {
        return readFileSync(`/proc/${pid}/${name}`, "utf8");
    } catch {
        return "";
    }
}
