import { createSocket } from "node:dgram";
import { onTestFinished } from "vitest";

export type Reply = "no such name" | "loopback" | "IPv6 loopback" | "nothing";

const recordTypes = { loopback: 1, "IPv6 loopback": 28 };
const addressesOf = { loopback: [127, 0, 0, 1], "IPv6 loopback": [...Array<number>(15).fill(0), 1] };

/** A DNS server that gives every query the same reply, and records its name and port. Ends with the test. */
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
        if (control.reply === "nothing") return;
        // RFC 1035: the header and the question, then one A or AAAA record that points at the question.
        const known = control.reply === "no such name" ? undefined : control.reply;
        const type = query.readUInt16BE(at + 1);
        const found = known !== undefined && type === recordTypes[known];
        const flags = [0x81, known === undefined ? 0x83 : 0x80];
        const counts = [0, 1, 0, found ? 1 : 0, 0, 0, 0, 0];
        const header = Buffer.from([query[0]!, query[1]!, ...flags, ...counts]);
        const address = known ? addressesOf[known] : [];
        const answer = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 30, 0, address.length, ...address]);
        const question = query.subarray(12, at + 5);
        server.send(Buffer.concat([header, question, ...(found ? [answer] : [])]), from.port, from.address);
    });
    await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const servers = [`127.0.0.1:${server.address().port}`];
    return { dns: { servers, searchDomain: "demo.svc.cluster.local" }, queries, control };
}
