import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { hostname } from "node:os";
import { afterEach, beforeEach, expect, it } from "vitest";
import { annotations } from "../../../chaos/cluster/labels";
import type { LogLine, Presence } from "../../../chaos/witness/protocol";
import { JobProcess, leaseOfDemo, podPath, policyPath } from "./support/job-process";

let job: JobProcess;
beforeEach(() => {
    job = new JobProcess();
    job.addLease();
    job.addAttack(policyPath);
    job.addPod("a");
});
afterEach(() => job.close());

it("nothing is reported before the targets could be listed: none looks as if it had lost its label", async () => {
    const list = "GET /api/v1/namespaces/demo/pods";
    const lists = () => job.requests.filter((request) => request === list).length;
    job.refuse = (request) => (request === list ? 500 : undefined);
    await job.start([{ kind: "blackhole", path: policyPath, label: "x.blackhole" }]);
    await job.until("it has tried several times", () => lists() > 3);
    expect(job.output).not.toContain('"changed"');
    job.refuse = () => undefined;
    await job.until("it reports the target", () => job.output.includes('"changed"'));
    expect(job.output).toContain('"changed":{"closed":["127.0.0.1:1"]}');
});

/** What the Job notes on its own pod, once it has announced targets. */
async function announced(): Promise<Presence> {
    const noted = () =>
        JSON.parse(
            job.objects.get(podPath(hostname())).metadata.annotations?.[annotations.witness] ?? "{}",
        ) as Presence;
    await job.until("it announces the target", () => (noted().watched?.length ?? 0) > 0);
    return noted();
}

const attack = { kind: "blackhole", path: policyPath, label: "x.blackhole" };

it.each(["an attacked", "another"])("before the attacks, %s target is announced once it is reached", async (which) => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    job.objects.delete(podPath("a"));
    job.addLease("run", new Date(), which === "another" ? {} : { "x.blackhole": {} });
    job.objects.get(leaseOfDemo).metadata.annotations[annotations.notBegun] = "run";
    await job.start([attack]);
    // A run labels its targets once its Job is there.
    await job.until("it has looked", () => looks() > 1);
    job.addPod("a", { port });
    await job.until("it has tried", () => job.output.includes('"closed"'));
    server.listen(port, "127.0.0.1");
    try {
        expect(await announced()).toMatchObject({ watched: [`127.0.0.1:${port}`], closed: [] });
    } finally {
        server.close();
    }
});

it("a target that is never reached is announced after its short tries: the run says so", async () => {
    job.objects.get(leaseOfDemo).metadata.annotations[annotations.notBegun] = "run";
    await job.start([attack]);
    expect(await announced()).toMatchObject({ watched: ["127.0.0.1:1"], closed: ["127.0.0.1:1"] });
    expect(looks()).toBeGreaterThan(3);
});

it("a target that packets do not reach any more is closed since its tries began, which last 1 s", async () => {
    const server = spawn(process.execPath, ["--eval", oneAtATime], { stdio: ["ignore", "pipe", "inherit"] });
    try {
        const [port] = (await once(server.stdout, "data")) as [Buffer];
        job.addPod("a", { port: Number(port.toString()) });
        await job.start([attack]);
        await job.until("it has reached the target", () => job.output.includes('"open"'));
        // The kernel completes two connections that nobody accepts, and drops the packets of others.
        server.kill("SIGSTOP");
        await job.until("it does not reach the target", () => job.output.includes('"closed"'));
        const line = job.output.split("\n").find((one) => one.includes('"closed"'))!;
        const { triedMs } = JSON.parse(line) as LogLine;
        expect(triedMs).toBeGreaterThanOrEqual(950);
        expect(triedMs).toBeLessThan(1_500);
    } finally {
        server.kill("SIGKILL");
    }
});

const oneAtATime = `
    const server = require("node:net").createServer((socket) => socket.on("error", () => undefined).end());
    server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => console.log(server.address().port));
`;

it("a process that begins under attack announces at its first look", async () => {
    await job.start([attack]);
    expect(await announced()).toMatchObject({ closed: ["127.0.0.1:1"] });
    expect(looks()).toBeLessThan(4);
});

const looks = () => job.requests.filter((one) => one === "GET /api/v1/namespaces/demo/pods").length;
