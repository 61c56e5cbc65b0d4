import { createSocket } from "node:dgram";
import type { AddressInfo } from "node:net";

export type Reply = "no such name" | "loopback" | "nothing";

/** A DNS server that replies alike to every query, and notes the name and the port each came from. */
export async function startDns(reply: Reply) {
    const server = createSocket("udp4");
    const queries: { name: string; fromPort: number }[] = [];
    const control = { reply };
    server.on("message", (query, from) => {
        const labels: string[] = [];
        let at = 12;
        for (let length = query[at]!; length > 0; length = query[at]!) {
            labels.push(query.toString("latin1", at + 1, at + 1 + length));
            at += 1 + length;
        }
        queries.push({ name: labels.join("."), fromPort: from.port });
        if (control.reply === "nothing") {
            return;
        }
        // RFC 1035: the header and the question come back, and after them one A record that points at the question.
        const found = control.reply === "loopback";
        const header = Buffer.from([
            query[0]!,
            query[1]!,
            0x81,
            found ? 0x80 : 0x83,
            0,
            1,
            0,
            found ? 1 : 0,
            0,
            0,
            0,
            0,
        ]);
        const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 30, 0, 4, 127, 0, 0, 1]);
        const question = query.subarray(12, at + 5);
        server.send(Buffer.concat([header, question, ...(found ? [answer] : [])]), from.port, from.address);
    });
    await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve));
    const servers = [`127.0.0.1:${(server.address() as AddressInfo).port}`];
    return { dns: { servers, searchDomain: "demo.svc.cluster.local" }, queries, control, close: () => server.close() };
}
