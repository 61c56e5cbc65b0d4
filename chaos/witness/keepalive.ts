import { closeSync, openSync, readlinkSync, readSync } from "node:fs";
import type { Socket } from "node:net";

/** The connections of this pod, as the kernel lists them: proc_net_tcp in its documentation. */
const tables = ["/proc/net/tcp", "/proc/net/tcp6"];
/** Fresh connections of the last minute are in the tables, too: 2,000 targets are up to 9 MB of text. */
const chunkBytes = 65_536;
/**
 * A line of an established connection (`01`) whose running timer is that of its keepalive (`02`). Groups: probes that
 * were sent since the last packet arrived (`timeout` in the table's head), and the socket's inode. A system that lists
 * no timers, such as gVisor, has no such lines.
 */
const probed = /^ *\d+: [\dA-F]+:[\dA-F]+ [\dA-F]+:[\dA-F]+ 01 [\dA-F:]+ 02:[\dA-F]+ [\dA-F]+ +\d+ +(\d+) (\d+) /gm;

/** How many keepalive probes are unanswered, by the inode of the connection's socket. */
export function unansweredIn(table: string): [inode: string, probes: number][] {
    return [...table.matchAll(probed)].map(([, probes, inode]) => [inode!, Number(probes)]);
}

/**
 * How many keepalive probes are unanswered of each connection of this pod that has keepalive, by the inode of its
 * socket. Empty if the system does not say.
 */
export function unansweredProbes(): Map<string, number> {
    const found = new Map<string, number>();
    for (const table of tables) {
        for (const lines of chunksOf(table)) {
            for (const [inode, probes] of unansweredIn(lines)) found.set(inode, probes);
        }
    }
    return found;
}

/** The inode of a connected socket. Undefined if the system does not say. */
export function inodeOf(socket: Socket): string | undefined {
    // Not in Node's documentation, but there since its beginning. Without it, nothing is known of the connection.
    const { _handle: handle } = socket as unknown as { _handle?: { fd?: number } };
    try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${handle?.fd}`))?.[1];
    } catch {
        return undefined;
    }
}

/** A file's text in parts that end with whole lines. Nothing if it cannot be read. */
function* chunksOf(path: string): Generator<string> {
    let file: number;
    try {
        file = openSync(path, "r");
    } catch {
        return;
    }
    try {
        const chunk = Buffer.alloc(chunkBytes);
        let rest = "";
        for (let length; (length = readSync(file, chunk)) > 0;) {
            const text = rest + chunk.toString("latin1", 0, length);
            const end = text.lastIndexOf("\n") + 1;
            rest = text.slice(end);
            yield text.slice(0, end);
        }
    } finally {
        closeSync(file);
    }
}
