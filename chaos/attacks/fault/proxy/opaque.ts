import type { Connection } from "./connection";
import { Gone } from "./wire";

/**
 * Serves what is not HTTP/1.x in clear text: TLS, HTTP/2, databases. A fault meets the whole connection. Whoever opens
 * a connection and neither sends nor gets a byte is not counted.
 */
export async function serveOpaque(connection: Connection): Promise<void> {
    const { shared, uid, caller, pod } = connection;
    shared.counts.add(uid, "requests");
    const fault = shared.faults.draw(uid);
    if (typeof fault?.abort === "number") {
        // Nothing but HTTP has a status. Without it, a delay would be another attack than the one that was defined.
        shared.counts.add(uid, "unfaultable");
    } else if (fault) {
        shared.counts.add(uid, "faulted");
        await connection.inflict(fault, true);
        if (caller.closed || (pod.closed && !pod.ended)) throw new Gone();
    }
    await connection.tunnel();
}
