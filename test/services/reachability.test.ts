import { afterEach, describe, expect, it } from "vitest";
import { createReachability } from "../../services/gateway/reachability";
import { silent } from "./support/backends";
import { startDns as openDns } from "./support/dns";
import { freePort } from "./support/ports";

let running: { close(): void }[] = [];
afterEach(() => {
    running.forEach((each) => each.close());
    running = [];
});

async function startDns(...reply: Parameters<typeof openDns>) {
    const server = await openDns(...reply);
    running.push(server);
    return server;
}

const timed = async (check: () => Promise<void>) => {
    const start = performance.now();
    const error = await check().then(
        () => undefined,
        (error: Error) => error.message,
    );
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

    it("is asked of one backend at a time, each in its turn", async () => {
        const { dns, queries } = await startDns("loopback");
        const check = createReachability([new URL("http://fashion"), new URL("http://toys")], dns);
        for (let times = 0; times < 3; times++) await check();
        expect(queries.map(({ name }) => name.split(".")[0])).toEqual(["fashion", "toys", "fashion"]);
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
