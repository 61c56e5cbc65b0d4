import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KeptConnections } from "../../../chaos/witness/kept-connections";
import { endpoint } from "../../../chaos/values/endpoint";
import { JobProcess, policyPath } from "./support/job-process";

const label = "x.blackhole";
const linux = existsSync("/proc/net/tcp");

let server: Server;
let accepted: Socket[];
let received: string;
beforeEach(async () => {
    accepted = [];
    received = "";
    server = createServer((socket) => {
        accepted.push(socket);
        socket.on("error", () => {}).on("data", (data) => (received += data.toString()));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
});
afterEach(() => {
    accepted.forEach((socket) => socket.destroy());
    server.close();
});
const port = () => (server.address() as AddressInfo).port;

describe.skipIf(!linux)("a kept connection", () => {
    let kept: KeptConnections;
    let name: string;
    beforeEach(async () => {
        kept = new KeptConnections();
        // Not the other tests' address: once the server is closed, one of theirs may get its port.
        const host = "127.0.7.7";
        await new Promise((closed) => server.close(closed));
        await once(server.listen(0, host), "listening");
        name = endpoint(host, port());
        expect(kept.lacks(name)).toBe(true);
        expect(await kept.open(name, name)).toBe(true);
    });
    afterEach(() => kept.drop(name));
    const state = () => kept.states()[name];

    it("answers, although nothing is written to it", async () => {
        expect(state()).toBe("answering");
        await sleep(3_000);
        expect([state(), received, kept.lacks(name)]).toEqual(["answering", "", false]);
    });

    it("answers while its server sends", async () => {
        for (let sent = 0; sent < 20; sent++, await sleep(50)) accepted[0]!.write("x".repeat(100_000));
        expect(state()).toBe("answering");
    });

    it("is ended when its server closes it, and opened again once that was told", async () => {
        accepted[0]!.end();
        await sleep(1_100);
        expect(kept.lacks(name)).toBe(false);
        expect(state()).toBe("ended");
        expect(kept.lacks(name)).toBe(true);
        await kept.keep([[name]], () => true);
        expect(state()).toBe("answering");
    });

    it("is lost when it is reset, and stays so while its server accepts no other", async () => {
        accepted[0]!.resetAndDestroy();
        server.close();
        await sleep(1_100);
        expect(state()).toBe("lost");
        await kept.keep([[name]], () => true);
        expect(state()).toBe("lost");
    });

    it("is closed when its target is no longer one", async () => {
        await kept.keep([], () => true);
        await sleep(50);
        expect([kept.states(), accepted[0]!.readableEnded]).toEqual([{}, true]);
    });

    it("is opened only to an endpoint that accepts fresh connections", async () => {
        await kept.keep([["127.0.0.1:1", name]], (candidate) => candidate === name);
        expect(kept.states()).toEqual({ [name]: "answering" });
        await kept.keep([["127.0.0.1:1"]], () => false);
        expect(kept.states()).toEqual({});
    });
});

describe.skipIf(!linux)("the Job", () => {
    let job: JobProcess;
    beforeEach(() => {
        job = new JobProcess();
        job.addPod("target", { port: port(), label });
    });
    afterEach(() => job.close());
    const tells = (text: string) => () => job.output.includes(text);

    it("keeps a connection to each target that the lease names", async () => {
        job.addLease("run", undefined, { [label]: {} });
        await job.start([{ kind: "blackhole", path: policyPath, label }]);
        await job.until("it is told", tells('"answering":["127'));
        accepted.forEach((socket) => socket.resetAndDestroy());
        await job.until("its loss is told", tells('"lost":["127'));
        await job.until("a new one is told", () => job.output.split('"answering":["127').length > 2);
        expect(received).toBe("");
    });

    it("keeps one to the API server, which may close it, and none to another pod", async () => {
        const ofOther: Socket[] = [];
        const other = createServer((socket) => ofOther.push(socket.on("error", () => {}).resume()));
        other.listen(0, "127.0.0.1");
        await once(other, "listening");
        job.addPod("other", { port: (other.address() as AddressInfo).port, label: "", owner: "other" });
        job.addLease("run", undefined, { [label]: {} });
        await job.start([{ kind: "blackhole", path: policyPath, label }]);
        await job.until("it is told", () => /"answering":\[[^\]]*"API server"/.test(job.output));
        job.connections.filter(({ bytesRead }) => bytesRead === 0).forEach((socket) => socket.end());
        await job.until("its end is told", tells('"ended":["API server"]'));
        await job.until("a new one is told", tells('"answering":["API server"]'));
        await sleep(4_000);
        other.close();
        expect(ofOther.every(({ readableEnded }) => readableEnded)).toBe(true);
        // One each two seconds.
        expect([2, 3, 4]).toContain(ofOther.length);
    });

    it.each<[string, Parameters<JobProcess["addLease"]>[2]]>([
        ["of an attack that denies none", {}],
        ["on a port that is not attacked", { [label]: { ports: [1] } }],
    ])("keeps none, nor one to compare it with, to the target %s", async (_, keptTargets) => {
        job.addLease("run", undefined, keptTargets);
        await job.start([{ kind: "blackhole", path: policyPath, label }]);
        await job.until("it looks", tells(`"open":["127.0.0.1:${port()}"]`));
        await sleep(1_000);
        expect(job.output).not.toContain('"answering"');
    });
});

const canDrop = linux && spawnSync("unshare", ["--net", "iptables", "--list"]).status === 0;
describe.skipIf(!canDrop)("on a network that drops its packets", () => {
    /** In a network of its own, with a server beside it. */
    const program = `
        const { execFileSync } = require("node:child_process");
        const { KeptConnections } = require("./chaos/witness/kept-connections.ts");
        execFileSync("ip", ["link", "set", "lo", "up"]);
        const server = require("node:net").createServer(() => {}).listen(7777, "127.0.0.1", async () => {
            const kept = new KeptConnections();
            await kept.open("a", "127.0.0.1:7777");
            const begun = Date.now();
            let before;
            setTimeout(() => execFileSync("iptables", "-A INPUT -p tcp --dport 7777 -j DROP".split(" ")), 1500);
            setInterval(() => {
                const { a } = kept.states();
                if (a !== before) console.log((before = a), Date.now() - begun - 1500);
                if (a === "lost") process.exit();
            }, 100);
        });`;

    it("a kept connection is silent after some 2 s, and lost after some 11 s", { timeout: 30_000 }, () => {
        const { stdout } = spawnSync("unshare", ["--net", process.execPath, "--import", "tsx", "--eval", program], {
            encoding: "utf8",
        });
        const told = stdout
            .trim()
            .split("\n")
            .map((line) => line.split(" "));
        expect(told.map(([state]) => state)).toEqual(["answering", "silent", "lost"]);
        const [, silent, lost] = told.map(([, after]) => Number(after));
        expect([silent! > 900, silent! < 4_000, lost! > 9_000, lost! < 14_000]).toEqual([true, true, true, true]);
    });
});
