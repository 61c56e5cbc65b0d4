import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { heap } from "../../../chaos/witness/deadline";
import { JobProcess, leaseOfDemo, podPath, policyPath } from "./support/job-process";

const policiesPath = "/apis/networking.k8s.io/v1/namespaces/demo/networkpolicies";
const servicePath = (number: number) => `/api/v1/namespaces/demo/services/svc-${number}`;
const proxyPath = (number: number) => `/api/v1/namespaces/demo/pods/run-fault-${number}`;
const blackhole = { kind: "blackhole", path: policyPath, label: "x.blackhole" };
const fault = (number: number) => ({
    kind: "fault",
    path: proxyPath(number),
    label: `x.fault-${number}`,
    told: { service: `svc-${number}`, delayMs: 100, percentage: 100 },
});
const patienceMs = 60_000;

let job: JobProcess;
beforeEach(() => {
    job = new JobProcess();
    job.addLease("run", undefined, { "x.blackhole": {} });
    job.addPod("target");
});
afterEach(() => job.close());

const addPolicy = (name: string, spec: object, metadata: object = {}) =>
    job.objects.set(`${policiesPath}/${name}`, {
        metadata: { name, uid: name, resourceVersion: "1", ...metadata },
        spec,
    });
const ofExperiment = { "chaos-experiments/experiment": "x" };

/** A fault that lasts: its proxy, the Service that points to that, and the policy that the run has made for it. */
function addFault(number: number, withPolicy = true): void {
    const name = `run-fault-${number}`;
    const selector = { "chaos-experiments/proxy": name };
    job.objects.set(proxyPath(number), {
        metadata: { name, namespace: "demo", creationTimestamp: new Date().toISOString(), labels: {} },
        status: { phase: "Running", podIP: "127.0.0.1", conditions: [{ type: "Ready", status: "True" }] },
    });
    const pointing = JSON.stringify({ run: "run", selector: { app: "api" }, owners: [] });
    job.objects.set(servicePath(number), {
        metadata: { name: `svc-${number}`, annotations: { "chaos-experiments/pointing": pointing } },
        spec: { clusterIP: "127.0.0.1", clusterIPs: ["127.0.0.1"], selector, ports: [{ port: 9, targetPort: 9 }] },
    });
    job.objects.set(`/api/v1/namespaces/demo/services/${name}`, {
        metadata: { name, namespace: "demo" },
        spec: { clusterIP: "None", selector: { app: "api" } },
    });
    const service = {
        service: `svc-${number}`,
        selector: { app: "api" },
        ports: [{ name: "", port: 9, target: 9, listen: 9 }],
    };
    const annotations = {
        "chaos-experiments/rests-on": JSON.stringify({ from: {} }),
        "chaos-experiments/access": JSON.stringify({ service, namespace: { "kubernetes.io/metadata.name": "demo" } }),
    };
    const spec = { podSelector: { matchLabels: selector }, policyTypes: ["Ingress", "Egress"] };
    if (withPolicy) addPolicy(`run-admit-fault-${number}-0`, spec, { labels: ofExperiment, annotations });
}

function addPodOfService(index: number, labels: object = {}): void {
    job.addPod(`api-${index}`, { label: "", address: `127.0.1.${index}`, port: 9 });
    Object.assign(job.objects.get(podPath(`api-${index}`)).metadata.labels, { app: "api", ...labels });
}

/** What the Job restores. */
const services = (...numbers: number[]) => ({ CHANGED: JSON.stringify(numbers.map(servicePath)) });
const selectorOf = (number: number) => job.objects.get(servicePath(number)).spec.selector as object;
const isOver = () => job.exitCode !== undefined;

it("an attack whose object somebody deletes is over: what the run has changed for it is restored", async () => {
    const exempting = JSON.stringify({ run: "run", selector: {}, owners: [] });
    const leftOut = { matchExpressions: [{ key: "chaos-experiments/attacked", operator: "NotIn", values: ["abc"] }] };
    addPolicy("default-deny", { podSelector: leftOut }, { annotations: { "chaos-experiments/exempting": exempting } });
    job.addAttack(policyPath);
    await job.start([blackhole]);
    await job.until("the Job looks", () => job.output.includes('"open"') || job.output.includes('"closed"'));
    job.objects.delete(policyPath);

    await job.until("the program ends", isOver);
    expect([job.exitCode, job.labelOf("target")]).toEqual([0, undefined]);
    expect(job.objects.get(`${policiesPath}/default-deny`).spec.podSelector).toEqual({});
    expect(job.output).toContain("the attack's NetworkPolicy run-blackhole was deleted: the attack is ended");
});

describe("what somebody deletes while the Job's pod is replaced ends the attack: the next pod knows of it", () => {
    const target = () => job.objects.get(podPath("target")).metadata;
    const ends = async () => {
        await job.start([blackhole]);
        await job.until("the program ends", isOver);
        expect([job.exitCode, job.labelOf("target"), job.objects.has(policyPath)]).toEqual([0, undefined, false]);
    };

    it("the attack's object, of which a target says that the attack had begun", async () => {
        target().annotations["chaos-experiments/begun"] = "run";
        await ends();
        expect(job.output).toContain("the attack's NetworkPolicy run-blackhole was deleted: the attack is ended");
    });

    it("a policy that selects a target instead of the others", async () => {
        job.addAttack(policyPath);
        target().labels["chaos-experiments/combined"] = "2";
        await ends();
        expect(job.output).toContain("the run's own NetworkPolicy run-blackhole-2 was deleted");
    });

    it("the policy that lets the Job through, which is there before a pod is a target", async () => {
        job.addAttack(policyPath);
        job.hasJobPolicy = false;
        await ends();
        expect(job.output).toContain("the run's own NetworkPolicy run-job was deleted");
    });
});

it("a fault whose policies were deleted before this pod came is over", async () => {
    addFault(1, false);
    addPodOfService(1);
    await job.start([fault(1)], services(1));

    await job.until("the program ends", isOver);
    expect([job.exitCode, selectorOf(1)]).toEqual([0, { app: "api" }]);
    expect(job.output).toContain("the run's own NetworkPolicy for the proxy of Service svc-1 is gone");
});

it("a fault whose Service gets another port is over: the proxy does not listen there", async () => {
    addFault(1);
    addPodOfService(1);
    await job.start([fault(1)], services(1));
    await sleep(2_500);
    expect(isOver()).toBe(false);
    job.objects.get(servicePath(1)).spec.ports.push({ name: "more", port: 10 });

    await job.until("the program ends", isOver);
    expect([job.exitCode, selectorOf(1)]).toEqual([0, { app: "api" }]);
});

describe("however large what others have is, the Job is there to end the attack", () => {
    const ends = async () => {
        await sleep(8_000);
        expect([isOver(), job.output.slice(-300)]).toEqual([false, expect.anything()]);
        job.objects.delete(leaseOfDemo);
        // Its container may have 96 MiB.
        const peakKibibytes = job.peakKibibytes();
        await job.until("the program ends", isOver, patienceMs);
        expect(job.exitCode).toBe(0);
        expect(peakKibibytes).toBeLessThan(90 * 1_024);
    };

    it("policies with selectors of a megabyte", { timeout: 90_000 }, async () => {
        const values = Array.from({ length: 18_000 }, (_, index) => `v${index}-${"x".repeat(45)}`);
        const podSelector = { matchExpressions: [{ key: "app", operator: "NotIn", values }] };
        for (let index = 0; index < 20; index++)
            addPolicy(`large-${index}`, { podSelector, policyTypes: ["Ingress"], ingress: [{}] });
        const annotations = { "chaos-experiments/rests-on": JSON.stringify({ adds: true }) };
        const own = { podSelector: { matchLabels: { app: "a" } }, policyTypes: ["Ingress"] };
        addPolicy("run-blackhole-1", own, { labels: ofExperiment, annotations });
        job.addAttack(policyPath);
        await job.start([blackhole], {}, heap);
        await ends();
    });

    it("policies with rules of a megabyte, beside several faults", { timeout: 90_000 }, async () => {
        const ingress = Array.from({ length: 10_000 }, (_, index) => {
            const prefix = `10.${index >> 8}.${index & 255}`;
            return { from: [{ ipBlock: { cidr: `${prefix}.0/24`, except: [`${prefix}.1/32`] } }] };
        });
        const podSelector = { matchLabels: { app: "other" } };
        for (let index = 0; index < 20; index++)
            addPolicy(`large-${index}`, { podSelector, policyTypes: ["Ingress"], ingress });
        for (const number of [1, 2, 3]) addFault(number);
        for (const index of [1, 2, 3]) addPodOfService(index);
        await job.start([1, 2, 3].map(fault), services(1, 2, 3), heap);
        await ends();
    });

    it("labels of the pods of a fault's Service: it ends, since nobody would see its callers kept out", async () => {
        const labels = Object.fromEntries(
            Array.from({ length: 3_500 }, (_, index) => [`l${index}-${"k".repeat(50)}`, "v".repeat(60)]),
        );
        addFault(1);
        for (let index = 1; index <= 30; index++) addPodOfService(index, labels);
        await job.start([fault(1)], services(1), heap);
        await job.until("the program ends", isOver, patienceMs);
        expect([job.exitCode, selectorOf(1)]).toEqual([0, { app: "api" }]);
        expect(job.output).toContain("have more labels and ports than this Job can hold");
    });
});
