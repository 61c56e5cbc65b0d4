import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Killing } from "../../../chaos/attacks/kill/victims";
import { JobProcess, killPath, leaseOfDemo } from "./support/job-process";

const told: Killing = {
    intervalMs: 300,
    effect: "killed repeatedly",
    target: "k8s.namespace=demo",
    radius: { kind: "all" },
    clusterName: "local",
};

let job: JobProcess;
beforeEach(async () => {
    job = new JobProcess();
    for (const pod of ["a", "b"]) job.addPod(pod, { label: "" });
});
afterEach(() => job.close());

const start = () => job.start([{ kind: "kill", path: killPath, label: "x.kill", told }]);
const kills = () => job.requests.filter((request) => /^DELETE .*\/pods\//.test(request)).length;

it("pods are killed once the request is there, while the lease names the run", async () => {
    job.addLease();
    await start();
    await job.until("it looks", () => job.requests.length > 10);
    expect(kills()).toBe(0);
    job.addAttack(killPath);
    await job.until("both are killed", () => kills() === 2);
});

describe("no pod is killed although the request is there", () => {
    it.each([
        ["without a lease, as in a new cluster, or when the run is undone", () => undefined],
        ["while the lease names another run", () => job.addLease("another")],
        ["while the lease names no run", () => job.objects.set(leaseOfDemo, { metadata: {}, spec: {} })],
        ["when the lease has expired: the run is long over", () => job.addLease("run", new Date(Date.now() - 90_000))],
        [
            "while the API server does not say who holds the lease",
            () => {
                job.addLease();
                job.refuse = (request) => (request.endsWith(leaseOfDemo) ? 500 : undefined);
            },
        ],
    ])("%s", async (_, prepare) => {
        prepare();
        job.addAttack(killPath);
        await start();
        await job.until("it looks, or ends", () => job.requests.length > 10 || job.exitCode === 0);
        await sleep(500);
        expect(kills()).toBe(0);
    });
});
