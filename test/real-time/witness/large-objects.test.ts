import { existsSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { heap } from "../../../chaos/witness/deadline";
import { JobProcess, leaseOfDemo, podPath, policyPath } from "./support/job-process";

/** The API server takes 256 KiB of annotations, and etcd 1.5 MB in all: https://etcd.io/docs/v3.5/dev-guide/limit/ */
const note = "x".repeat(250_000);
const env = Array.from({ length: 1_000 }, (_, index) => ({ name: `VARIABLE_${index}`, value: "y".repeat(1_000) }));
const ingress = Array.from({ length: 10_000 }, (_, index) => ({
    from: [
        { ipBlock: { cidr: `10.${index >> 8}.${index & 255}.0/24`, except: [`10.${index >> 8}.${index & 255}.1/32`] } },
    ],
}));
const managedFields = [{ manager: "kubectl", fieldsV1: { "f:spec": { "f:ingress": "z".repeat(200_000) } } }];
const maxKibibytes = 72 * 1_024;
const patienceMs = 30_000;

let job: JobProcess;
beforeEach(() => {
    job = new JobProcess();
    job.addLease("run", undefined, { "x.blackhole": {} });
    for (let index = 0; index < 20; index++) {
        job.addPod(`target-${index}`, { padding: note });
        job.addPod(`large-${index}`, { label: "", padding: note, owner: `set-${index}` });
        job.objects.get(podPath(`large-${index}`)).spec.containers[0].env = env;
        job.objects.set(`/apis/apps/v1/namespaces/demo/replicasets/set-${index}`, {
            metadata: { uid: `set-${index}`, annotations: { note } },
            spec: { template: { spec: { containers: [{ env }] } } },
        });
        job.objects.set(`/apis/networking.k8s.io/v1/namespaces/demo/networkpolicies/large-${index}`, {
            metadata: {
                name: `large-${index}`,
                resourceVersion: "1",
                managedFields,
                annotations: {
                    note,
                    "chaos-experiments/exempting": JSON.stringify({ run: "run", selector: {}, owners: [] }),
                },
            },
            spec: { podSelector: {}, ingress },
        });
    }
});
afterEach(() => job.close());

const exempting = () =>
    [...job.objects.values()].filter(({ metadata }) => metadata.annotations?.["chaos-experiments/exempting"]);

describe.skipIf(!existsSync("/proc/self/status"))(
    "among 60 objects of 250 KB to 1.3 MB the Job needs at most 72 MiB",
    () => {
        it("to watch its targets, and to end the attack", async () => {
            job.addAttack(policyPath);
            await job.start([{ kind: "blackhole", path: policyPath, label: "x.blackhole" }], {}, heap);
            await job.until("it has looked at them", () => job.output.includes('"closed":['), patienceMs);
            const untouched = () => job.queries.filter((query) => query.includes("labelSelector=%21")).length;
            await job.until("it has looked for pods to compare with", () => untouched() > 1, patienceMs);
            job.objects.delete(leaseOfDemo);
            await job.until("the policies are restored", () => exempting().length === 0, patienceMs);

            expect(job.peakKibibytes()).toBeLessThan(maxKibibytes);
            await job.until("the program ends", () => job.exitCode !== undefined, patienceMs);
            expect(job.exitCode).toBe(0);
        });

        it("to kill pods", async () => {
            await job.killTwenty(heap, patienceMs);

            expect(job.peakKibibytes()).toBeLessThan(maxKibibytes);
            expect(job.exitCode).toBeUndefined();
        });
    },
);
