import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { labels } from "../../../chaos/cluster/labels";
import type { LogLine } from "../../../chaos/witness/protocol";
import { JobProcess, podPath, policyPath } from "./support/job-process";

const label = "x.blackhole";

let job: JobProcess;
let servers: Map<string, Server>;
beforeEach(async () => {
    job = new JobProcess();
    servers = new Map();
    await addPod("target", label);
    job.addLease("run", undefined, { [label]: {} });
});
afterEach(() => {
    job.close();
    servers.forEach((server) => server.close());
});

/** Adds a pod whose endpoint accepts connections. */
async function addPod(name: string, withLabel = "", owner = name): Promise<void> {
    const server = createServer((socket) => socket.on("error", () => {}).end()).listen(0, "127.0.0.1");
    await once(server, "listening");
    servers.set(name, server);
    job.addPod(name, { label: withLabel, port: (server.address() as AddressInfo).port, owner });
}
const start = () => job.start([{ kind: "blackhole", path: policyPath, label }]);
/** Has a pod accept no connections any more. */
const stop = (name: string) => servers.get(name)!.close();
const setReady = (name: string, ready: boolean) =>
    void (job.objects.get(podPath(name)).status.conditions[0].status = ready ? "True" : "False");

/** What the log has told about the reference, in order. */
const told = () =>
    job.output
        .split("\n")
        .slice(0, -1)
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as LogLine)
        .flatMap(({ at, changed = {} }) =>
            (["open", "closed", "gone"] as const).flatMap((state) =>
                changed[state]?.includes("reference") ? [{ at, state }] : [],
            ),
        );
const states = () => told().map(({ state }) => state);
const untilTold = (...expected: string[]) =>
    job.until(`the reference becomes ${expected.join(", then ")}`, () => states().join() === expected.join());

it("the reference is open while one of the pods accepts connections, and closed when none does", async () => {
    await addPod("a");
    await addPod("b");
    await start();
    await untilTold("open");
    stop("a");
    await sleep(1_500);
    expect(states()).toEqual(["open"]);
    stop("b");
    await untilTold("open", "closed");
});

it("pods that have crashed are dropped before they count as cut off, also if one never accepted any", async () => {
    await addPod("a");
    await addPod("never-reached");
    stop("never-reached");
    await start();
    await untilTold("open");
    stop("a");
    await untilTold("open", "closed");
    setReady("a", false);
    await untilTold("open", "closed", "gone");
    const [, closed, gone] = told();
    expect(gone!.at - closed!.at).toBeLessThan(3_000);
});

it("a pod that was deleted is dropped, and one that has come since takes its place", async () => {
    await addPod("a");
    await start();
    await untilTold("open");
    stop("a");
    job.objects.delete(podPath("a"));
    await untilTold("open", "gone");
    await addPod("b");
    await untilTold("open", "gone", "open");
});

it("a pod that an attack has labeled is dropped", async () => {
    await addPod("a");
    await start();
    await untilTold("open");
    job.objects.get(podPath("a")).metadata.labels = { [labels.target]: label };
    await untilTold("open", "gone");
});

it("nothing is told of pods that were never reached, are not ready, or belong to an experiment", async () => {
    await addPod("never-reached");
    stop("never-reached");
    await addPod("not-ready");
    setReady("not-ready", false);
    await addPod("of-an-experiment");
    job.objects.get(podPath("of-an-experiment")).metadata.labels = { [labels.experiment]: "x" };
    await start();
    await job.until("it looks", () => job.output.includes('"open":["127'));
    await sleep(1_500);
    expect(told()).toEqual([]);
});

it("one pod of six is tried, every two seconds; the next owner's if it accepts no connection", async () => {
    const tried: string[] = [];
    for (const [name, owner] of Object.entries({ a: "x", b: "x", c: "y", d: "y", e: "z", f: "z" })) {
        await addPod(name, "", owner);
        servers.get(name)!.on("connection", () => tried.push(name));
    }
    await start();
    await untilTold("open");
    await sleep(5_000);
    expect([
        ["a", "a"],
        ["a", "a", "a"],
    ]).toContainEqual(tried);
    stop("a");
    await job.until("another is tried", () => tried.at(-1) !== "a");
    expect(tried.at(-1)).toBe("c");
    expect(states()).toEqual(["open"]);
});

it("none is tried if the attack blocks some ports only", async () => {
    const { port } = servers.get("target")!.address() as AddressInfo;
    job.addLease("run", undefined, { [label]: { ports: [port] } });
    await addPod("a");
    await start();
    await job.until("it looks", () => job.output.includes('"open":["127'));
    await sleep(1_000);
    expect(told()).toEqual([]);
});

it("a large namespace without such pods is searched once, and not to its end", async () => {
    for (let index = 0; index < 1_000; index++) {
        job.addPod(`bare-${String(index).padStart(4, "0")}`, { label: "", containers: 0 });
    }
    job.objects.delete(podPath("target"));
    await addPod("target", label);
    await start();
    await job.until("it looks", () => job.output.includes('"open":["127'));
    const pages = () => job.queries.filter((query) => query.includes("%21")).length;
    await job.until("it searches", () => pages() >= 30);
    await sleep(3_000);
    expect(pages()).toBe(30);
});

it("a port that no attack blocks is tried every two seconds", async () => {
    let tried = 0;
    servers.get("target")!.on("connection", () => tried++);
    job.addLease("run", undefined, {});
    await start();
    await job.until("it looks", () => job.output.includes('"open":["127'));
    await sleep(3_000);
    expect(tried).toBe(2);
});
