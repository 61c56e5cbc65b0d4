import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";

/** A port of this machine that nobody listens on. */
export async function freePort(): Promise<number> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    return port;
}

/** A process's peak resident memory, in 10^6 bytes; VmHWM is in KiB (proc_pid_status(5)). */
export function peakMegabytes(pid: number): number {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return (Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) * 1_024) / 1e6;
}
