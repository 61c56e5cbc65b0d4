import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, expect, it, onTestFinished } from "vitest";
import { createReachability } from "../../../services/gateway/reachability";
import { silent } from "../../services/support/backends";
import { freePort } from "../../services/support/ports";
import { pass, passUntilSettled, stopClock, turnUntil } from "./support/clock";
import { startDns } from "./support/dns";

const errorOf = (check: Promise<void>) =>
    check.then(
        () => undefined,
        (error: Error) => error,
    );

describe("the gateway can reach something", () => {
    it("if DNS answers at all, even that a name does not exist", async () => {
        const { dns, queries } = await startDns("no such name");
        await createReachability([new URL("http://hot-deals")], dns)();
        expect(queries[0]!.name).toBe("hot-deals.demo.svc.cluster.local");
    });

    it("by a DNS query from a new port each time, because an old flow may survive an isolation", async () => {
        const { dns, queries } = await startDns("loopback");
        const check = createReachability([new URL("http://hot-deals")], dns);
        await check();
        await check();
        await check();
        expect(new Set(queries.map(({ fromPort }) => fromPort)).size).toBe(queries.length);
        expect(queries.length).toBe(3);
    });

    it("by one query per check: backends take turns", async () => {
        const { dns, queries } = await startDns("loopback");
        const check = createReachability([new URL("http://fashion"), new URL("http://toys")], dns);
        for (let times = 0; times < 3; times++) await check();
        expect(queries.map(({ name }) => name.split(".")[0])).toEqual(["fashion", "toys", "fashion"]);
    });

    it("if only DNS is down, by a backend's last known address", async () => {
        const peer = await silent();
        const { dns, control } = await startDns("loopback");
        const check = createReachability([new URL(peer.url.replace("127.0.0.1", "hot-deals"))], dns);
        await check();
        control.reply = "nothing";
        stopClock();
        expect(await passUntilSettled(errorOf(check()))).toBeUndefined();
        peer.close();
        expect(await passUntilSettled(errorOf(check()))).toBeDefined();
    });
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all!.some(({ address }) => address === "::1"));

it.skipIf(!hasIpv6)("the gateway can reach a backend's last known address of IPv6, if it has no other", async () => {
    const peer = createServer().listen(0, "::1");
    await once(peer, "listening");
    onTestFinished(() => void peer.close());
    const { dns, control } = await startDns("IPv6 loopback");
    const check = createReachability([new URL(`http://hot-deals:${(peer.address() as AddressInfo).port}`)], dns);
    await check();
    control.reply = "nothing";
    stopClock();
    expect(await passUntilSettled(errorOf(check()))).toBeUndefined();
});

describe("the gateway can reach nothing", () => {
    it("if packets are dropped, which it says within the kubelet's timeout of 1 s", async () => {
        const { dns, queries } = await startDns("nothing");
        stopClock();
        const error = errorOf(createReachability([new URL("http://hot-deals")], dns)());
        await turnUntil(() => queries.length > 0);
        await pass(999);
        expect(await error).toEqual(new Error("Neither DNS nor any backend can be reached."));
    });

    it("if packets are rejected, which it says without waiting", async () => {
        const dns = { servers: [`127.0.0.1:${await freePort()}`] };
        stopClock();
        const error = await errorOf(createReachability([new URL("http://hot-deals")], dns)());
        expect((error?.cause as AggregateError).errors).toMatchObject([{ code: "ECONNREFUSED" }]);
    });
});
