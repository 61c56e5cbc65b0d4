import { createSocket } from "node:dgram";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createReachability } from "../../services/gateway/reachability";
import { silent } from "./support/backends";
import { freePort } from "./support/ports";

let running: { close(): void }[] = [];
afterEach(() => {
    running.forEach((each) => each.close());
    running = [];
});

type Reply = "no such name" | "loopback" | "nothing";

/** A DNS server that replies alike to every query, and notes the name and the port each came from. */
async function startDns(reply: Reply) {
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
        const header = Buffer.from([query[0]!, query[1]!, 0x81, found ? 0x80 : 0x83, 0, 1, 0, found ? 1 : 0, 0, 0, 0, 0]);
        const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 30, 0, 4, 127, 0, 0, 1]);
        const question = query.subarray(12, at + 5);
        server.send(Buffer.concat([header, question, ...(found ? [answer] : [])]), from.port, from.address);
    });
    await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve));
    running.push(server);
    const servers = [`127.0.0.1:${(server.address() as AddressInfo).port}`];
    return { dns: { servers, searchDomain: "demo.svc.cluster.local" }, queries, control };
}

const timed = async (check: () => Promise<void>) => {
    const start = performance.now();
    const error = await check().then(() => undefined, (error: Error) => error.message);
    return { error, durationMs: performance.now() - start };
};

describe("whether the gateway can reach anything", () => {
    it("is yes when DNS answers at all, even that there is no such name", async () => {
        const { dns, queries } = await startDns("no such name");
        await createReachability([new URL("http://hot-deals")], dns)();
        expect(queries[0]!.name).toBe("hot-deals.demo.svc.cluster.local");
    });

    it("is asked from a new port each time, lest the old flow be one that survives an isolation", async () => {
        const { dns, queries } = await startDns("loopback");
        const check = createReachability([new URL("http://hot-deals")], dns);
        await check();
        await check();
        await check();
        expect(new Set(queries.map(({ fromPort }) => fromPort)).size).toBe(queries.length);
        expect(queries.length).toBe(3);
    });

    it("is no, within a kubelet's patience, when packets are swallowed", async () => {
        const { dns } = await startDns("nothing");
        const { error, durationMs } = await timed(createReachability([new URL("http://hot-deals")], dns));
        expect(error).toBe("Neither DNS nor any backend can be reached.");
        expect(durationMs).toBeLessThan(1000);
    });

    it("is no, at once, when packets are rejected", async () => {
        const dns = { servers: [`127.0.0.1:${await freePort()}`] };
        const { error, durationMs } = await timed(createReachability([new URL("http://hot-deals")], dns));
        expect(error).toBeDefined();
        expect(durationMs).toBeLessThan(500);
    });

    it("stays yes when only DNS goes down, by the address a backend last had", async () => {
        const peer = await silent();
        running.push(peer);
        const { dns, control } = await startDns("loopback");
        const check = createReachability([new URL(peer.url.replace("127.0.0.1", "hot-deals"))], dns);
        await check();
        control.reply = "nothing";
        expect(await timed(check)).toMatchObject({ error: undefined });
        peer.close();
        expect((await timed(check)).error).toBeDefined();
    });
});
