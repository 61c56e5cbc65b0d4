import { once } from "node:events";
import { existsSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { heap } from "../../../chaos/witness/deadline";
import { maxKept } from "../../../chaos/witness/protocol";
import { JobProcess, leaseOfDemo, podPath, policyPath } from "./support/job-process";

const pods = 2_000;
/** With status and managed fields, a pod is about 5 KB of JSON. */
const padding = "x".repeat(4_500);
const maxKibibytes = 64 * 1_024;
/** A look at all of them takes seconds on a busy machine. */
const patienceMs = 30_000;

let job: JobProcess;
let target: Server;
beforeEach(async () => {
    job = new JobProcess();
    job.addLease();
    // Listens on all loopback addresses: each pod has its own.
    target = createServer((socket) => socket.on("error", () => {}).resume()).listen(0, "0.0.0.0", 4_096);
    await once(target, "listening");
});
afterEach(() => {
    job.close();
    target.close();
});

function addPods(label: string): void {
    const { port } = target.address() as AddressInfo;
    for (let index = 0; index < pods; index++) {
        job.addPod(`workload-${index}`, { label, address: `127.1.${index >> 8}.${index & 255}`, port, padding });
        job.objects.set(`/apis/apps/v1/namespaces/demo/replicasets/set-${index}`, {
            metadata: { uid: `set-${index}`, annotations: { padding } },
        });
    }
}
const presence = () => String(job.objects.get(podPath(hostname())).metadata.annotations?.["chaos-experiments/witness"]);
const changes = (state: string) => job.output.split("\n").filter((line) => line.includes(`"${state}":[`)).length;
/** To which targets: a busy look tells it in several lines. */
const kept = () => {
    const told = [...job.output.matchAll(/"answering":\[([^\]]*)/g)].flatMap(([, names]) => names!.split(","));
    return new Set(told.filter((name) => name.includes("127.")));
};

describe.skipIf(!existsSync("/proc/self/status"))(`with ${pods} targets the Job needs at most 64 MiB`, () => {
    it("to watch them, with at most 1 KB of log per second when nothing changes, and to end the attack", async () => {
        addPods("x.blackhole");
        job.addLease("run", undefined, { "x.blackhole": {} });
        await job.start([{ kind: "blackhole", path: policyPath, label: "x.blackhole" }], {}, heap);
        const isOpen = () => presence().includes("127.1.7.207:") && changes("open") > 0;
        await job.until("all are found open", isOpen, patienceMs);
        await job.until("connections are kept to as many as allowed", () => kept().size === maxKept, patienceMs);
        target.close();
        await job.until("all are found closed", () => changes("closed") >= pods / 200, patienceMs);
        const [before, begun] = [job.output.length, performance.now()];
        await sleep(5_000);
        // On a busy node, a look at all of them may take longer.
        await job.until("it goes on looking", () => job.output.length > before, patienceMs);
        expect((job.output.length - before) / ((performance.now() - begun) / 1_000)).toBeLessThan(1_024);
        // The program goes on trying, so that its memory can be read.
        job.addAttack(policyPath);
        job.refuse = (request) => (request === `DELETE ${policyPath}` ? 500 : undefined);
        job.objects.delete(leaseOfDemo);
        await job.until("the labels are removed", () => job.labelOf(`workload-${pods - 1}`) === undefined, patienceMs);
        expect(job.peakKibibytes()).toBeLessThan(maxKibibytes);
    });

    it("to kill them", async () => {
        addPods("");
        await job.killTwenty(heap, patienceMs);
        await sleep(2_000);
        expect(job.peakKibibytes()).toBeLessThan(maxKibibytes);
    });
});
