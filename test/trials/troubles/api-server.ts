import { spawn } from "node:child_process";
import { runningComponent } from "../../../sandbox/node/processes";
import type { Trouble } from "../kind";

/** Stops the API server, as a machine does that swaps or is moved: it answers nothing, and goes on later. */
export function apiServerStopped(seconds: number, options: { afterGrace?: boolean } = {}): Trouble {
    return async ({ moment, afterwards }) => {
        await moment(options);
        const { pid } = runningComponent("kube-apiserver")!;
        const pause = pauseProcess(pid, seconds);
        afterwards(() => pause.end());
        await pause.ended;
        return { saw: `stopped it for ${seconds} s` };
    };
}

/** Stops a process for a time. Another process continues it: this one may be killed meanwhile. */
function pauseProcess(pid: number, seconds: number): { ended: Promise<void>; end(): Promise<void> } {
    const script = 'kill -STOP "$0"; sleep "$1"; kill -CONT "$0"';
    // Not in this process' group, which gets the Ctrl-C of a terminal.
    const child = spawn("sh", ["-c", script, String(pid), String(seconds)], { detached: true, stdio: "ignore" });
    const ended = new Promise<void>((resolve, reject) => {
        child.once("exit", () => resolve());
        child.once("error", reject);
    });
    return {
        ended,
        async end() {
            if (child.exitCode !== null || child.signalCode !== null) return;
            process.kill(-child.pid!, "SIGKILL");
            await ended;
            process.kill(pid, "SIGCONT");
        },
    };
}
