import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { JobProcess, leaseOfDemo, podPath, policyPath } from "./support/job-process";

let job: JobProcess;
beforeEach(async () => {
    job = new JobProcess();
    job.addLease();
    job.addPod("a");
    await job.start([{ kind: "blackhole", path: policyPath, label: "x.blackhole" }]);
    job.addAttack(policyPath);
    await job.until("it looks at its lease", () => job.requests.includes(`GET ${leaseOfDemo}`));
});
afterEach(() => job.close());

const isEnded = () => !job.objects.has(policyPath) && job.labelOf("a") === undefined;
const presence = () => String(job.objects.get(podPath(hostname())).metadata.annotations?.["chaos-experiments/witness"]);

describe("the attacks end within 5 s, long before the deadline,", () => {
    it("when the lease is deleted, and the Job completes", async () => {
        job.objects.delete(leaseOfDemo);
        await job.until("the attack is ended", isEnded, 5_000);
        await job.until("the program ends", () => job.exitCode === 0);
    });

    it("when the lease names another run", async () => {
        job.addLease("another");
        await job.until("the attack is ended", isEnded, 5_000);
    });

    it("with 50 targets, though the API server answers no patch of a pod and no other look", async () => {
        for (let pod = 1; pod < 50; pod++) job.addPod(`a${pod}`, { port: pod + 1 });
        // The looks that have begun get no answer any more either.
        job.hang = (request) => request === `GET ${policyPath}` || request.startsWith("PATCH /api/v1/");
        await sleep(1_500);
        job.objects.delete(leaseOfDemo);
        await job.until("the policy is removed", () => !job.objects.has(policyPath), 5_000);
        job.hang = () => false;
        await job.until("no label is left", () => isEnded() && job.labelOf("a49") === undefined);
    });

    it("also if the lease is taken again before everything is undone", async () => {
        job.refuse = (request) => (request === `DELETE ${policyPath}` ? 500 : undefined);
        job.objects.delete(leaseOfDemo);
        await job.until("the label is removed", () => job.labelOf("a") === undefined, 5_000);
        job.addLease();
        job.refuse = () => undefined;
        await job.until("the attack is ended", isEnded, 5_000);
    });
});

it("a pod that is labeled while the attacks end is not announced: no attack may begin on it", async () => {
    await job.until("the first pod is announced", () => presence().includes("127.0.0.1:1"));
    expect(JSON.parse(presence())).toMatchObject({ address: "fd00::9", addresses: ["fd00::9", "10.0.0.9"] });
    job.refuse = (request) => (request.startsWith("PATCH") && request.endsWith("/a") ? 500 : undefined);
    job.objects.delete(leaseOfDemo);
    await job.until("the attack is removed", () => !job.objects.has(policyPath), 5_000);
    job.addPod("b", { port: 2 });
    await job.until("its label is removed", () => job.labelOf("b") === undefined, 5_000);
    expect(presence()).not.toContain("127.0.0.1:2");
});

describe("the attacks go on", () => {
    it("while the lease names the run, even if it has expired", async () => {
        job.addLease("run", new Date(Date.now() - 90_000));
        await sleep(1_500);
        expect([isEnded(), job.exitCode]).toEqual([false, undefined]);
    });

    it.each([403, 429, 500])("while the API server answers %i: that is not a deleted lease", async (status) => {
        job.refuse = (request) => (request.endsWith(leaseOfDemo) ? status : undefined);
        await sleep(1_500);
        expect([isEnded(), job.exitCode]).toEqual([false, undefined]);
    });
});
