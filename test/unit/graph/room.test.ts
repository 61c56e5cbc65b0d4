import type * as pulumi from "@pulumi/pulumi";
import { beforeAll, expect, it } from "vitest";
import { Experiment, type ExperimentArgs } from "../../../chaos/face/experiment";
import { planOfArguments } from "../../../chaos/definition/arguments";
import { runNameOf } from "../../../chaos/definition/plan";
import { ofJob } from "../../../chaos/pods/job-name";
import { roomOf, type RoomArgs } from "../../../chaos/face/objects-to-try";
import { inputFrom } from "../../../chaos/run/contract";
import { type Asked, find, kinds, recordGraph } from "./support";

/** The cluster of this kubeconfig does not answer. */
const kubeconfig = JSON.stringify({
    clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
    users: [{ name: "u", user: {} }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    "current-context": "c",
});
const programs = {
    stepCommand: "node steps.js",
    steps: "",
    deadline: "void 'Job';",
    proxy: "void 'proxy';",
    sender: "void 'sender';",
};
const plan = planOfArguments("slow", {
    hypothesis: "It holds.",
    attacks: [{ kind: "fault", service: "web", delay: "1s", target: "k8s.namespace=demo" }],
    checks: [{ kind: "http", service: "front", port: 80, path: "/" }],
});
const pod = {
    imagePullSecrets: ["registry"],
    nodeSelector: { disk: "ssd" },
    tolerations: [{ key: "spot", operator: "Exists" }],
    priorityClassName: "high",
    labels: { team: "shop" },
    annotations: { note: "chaos" },
};
const runName = runNameOf({ ...plan, context: "c" }, "local/0a1b2c3d");
const pass = "0".repeat(16);
const ports = [{ name: "", port: 80, target: 8080, listen: 8080 }];
const found = { service: "web", selector: {}, ports, pods: [] };
const printed = {
    "slow-steady-state": { runName, pass, replacesAtOnce: true },
    "slow-targets": { attacks: [{ name: "fault", matching: 0, targets: [], found }] },
    "slow-check": { verdict: "PASSED" },
};
const of = { plan, kubeconfig, image: "node:22", identity: "0a1b2c3d", programs: () => programs, enabled: true };

const graphOf = (more: Partial<ExperimentArgs>) =>
    recordGraph(async () => new Experiment("slow", { ...of, ...more }), printed);
const roomIn = (asked: Asked[], name: string) =>
    inputFrom<"label-targets">(find(asked, kinds.command, name).environment.value).room!;
const proxyIn = (asked: Asked[]) => find(asked, "kubernetes:core/v1:Pod", "slow-fault");

let asked: Asked[];
beforeAll(async () => {
    asked = await graphOf({ pod });
});

it("what the steps try by a dry run is what is made later", () => {
    const { job, attacks } = roomIn(asked, "slow-steady-state") as { job: any; attacks: any[] };
    expect(find(asked, kinds.job, "slow-deadline")).toEqual({ apiVersion: "batch/v1", ...job });
    expect(attacks.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
        ["Service", `${runName}-fault`],
        ["Service", `${runName}-fault-w`],
        ["Pod", `${runName}-fault`],
    ]);
    const { metadata, spec } = proxyIn(asked);
    expect(attacks[2].spec).toEqual(spec);
    expect(attacks[2].metadata.labels).toEqual(metadata.labels);
    expect(find(asked, kinds.service, "slow-fault-pods")).toEqual({ apiVersion: "v1", ...attacks[0] });
    expect(find(asked, kinds.service, "slow-fault-witness")).toEqual({ apiVersion: "v1", ...attacks[1] });
});

it("a fault's proxy starts again if it dies, and knows the witness by a Service", () => {
    const { metadata, spec } = proxyIn(asked);
    const env = Object.fromEntries(spec.containers[0].env.map(({ name, value }: any) => [name, value]));
    expect(spec.restartPolicy).toBe("Always");
    expect(env).toMatchObject({ PASS: pass, WITNESS: `${runName}-fault-w` });
    const service = find(asked, kinds.service, "slow-fault-witness").spec;
    const job = find(asked, kinds.job, "slow-deadline").spec.template;
    const { [ofJob]: jobOfWitness, ...own } = service.selector;
    expect(job.metadata.labels).toMatchObject(own);
    expect(own).toEqual({
        "chaos-experiments/experiment": "slow",
        "chaos-experiments/pass": metadata.labels["chaos-experiments/pass"],
    });
    // Pods that actions have beside the run have these labels, too, and their requests are no probes.
    expect(jobOfWitness).toBe(`${runName}-deadline`);
});

it("no Service of a fault is made before its targets are chosen: what is there then is removed", () => {
    const order = asked.map(({ name }) => name);
    const services = order.filter((name) => /^slow-fault-(pods|witness)$/.test(name));
    expect(services).toHaveLength(2);
    for (const name of services) expect(order.indexOf(name)).toBeGreaterThan(order.indexOf("slow-targets"));
});

it("the Job's pod is replaced at once if the cluster can, and as by any Job otherwise, without a limit", async () => {
    expect(find(asked, kinds.job, "slow-deadline").spec).toMatchObject({
        completionMode: "Indexed",
        backoffLimitPerIndex: 0,
        successPolicy: { rules: [{ succeededCount: 1 }] },
        template: { spec: { restartPolicy: "Never" } },
    });
    const old = { ...printed, "slow-steady-state": { runName, pass } };
    const plain = await recordGraph(async () => new Experiment("slow", of), old);
    const { spec } = find(plain, kinds.job, "slow-deadline");
    expect(spec).toMatchObject({ backoffLimit: 2_147_483_647, template: { spec: { restartPolicy: "OnFailure" } } });
    expect(spec).not.toHaveProperty("completionMode");
});

it("a Job whose pods' host names would be too long is no Indexed one: the API server would refuse it", async () => {
    const long = {
        ...printed,
        "slow-steady-state": { runName: `${"x".repeat(41)}-0a1b2c3d`, pass, replacesAtOnce: true },
    };
    const asked = await recordGraph(async () => new Experiment("slow", of), long);
    expect(find(asked, kinds.job, "slow-deadline").spec).not.toHaveProperty("completionMode");
});

it("it is tried again with the targets, and makes no other run if it changes", async () => {
    expect(roomIn(asked, "slow-targets")).toEqual(roomIn(asked, "slow-steady-state"));
    const other = await graphOf({ image: "node:24" });
    for (const step of ["slow-steady-state", "slow-targets"])
        expect(find(other, kinds.command, step).triggers).toEqual(find(asked, kinds.command, step).triggers);
});

it("the options are set on the Job's pod and a proxy, beside their own", () => {
    const template = find(asked, kinds.job, "slow-deadline").spec.template;
    for (const { metadata, spec } of [template, proxyIn(asked)]) {
        expect(metadata.labels).toMatchObject({ team: "shop", "sidecar.istio.io/inject": "false" });
        expect(metadata.annotations).toMatchObject({ note: "chaos", "linkerd.io/inject": "disabled" });
        expect(spec.nodeSelector).toEqual({ "kubernetes.io/os": "linux", disk: "ssd" });
        expect(spec.imagePullSecrets).toEqual([{ name: "registry" }]);
        expect(spec.priorityClassName).toBe("high");
        expect(spec.tolerations.at(-1)).toEqual({ key: "spot", operator: "Exists" });
        expect(spec.securityContext).toMatchObject({ runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 });
    }
    expect(template.spec.tolerations).toHaveLength(3);
});

it.each([
    [false, {}],
    [1234, { runAsUser: 1234, runAsGroup: 1234, fsGroup: 1234 }],
] as const)("runAsUser %j: the ids in the pods are %j, and never root's", async (runAsUser, ids) => {
    const other = await graphOf({ pod: { runAsUser } });
    const job = find(other, kinds.job, "slow-deadline").spec.template;
    for (const { spec } of [job, proxyIn(other)])
        expect(spec.securityContext).toEqual({
            runAsNonRoot: true,
            seccompProfile: { type: "RuntimeDefault" },
            ...ids,
        });
});

it("without options, the pods have no field that nobody asked for", async () => {
    const { spec } = find(await graphOf({}), kinds.job, "slow-deadline").spec.template;
    expect(Object.keys(spec)).not.toContain("imagePullSecrets");
    expect(Object.keys(spec)).not.toContain("priorityClassName");
});

it("the component's transforms and transformations change what is tried, as they change what is made", async () => {
    const { output } = await import("@pulumi/pulumi");
    const labeled = ({ type, props, opts }: pulumi.ResourceTransformArgs) => {
        if (type === "kubernetes:batch/v1:Job") {
            const template = { ...props.spec.template, metadata: { labels: { team: output("shop") } } };
            return { props: { ...props, spec: { ...props.spec, template } }, opts };
        }
        if (type !== "kubernetes:core/v1:Pod") return undefined;
        return { props: { ...props, metadata: { ...props.metadata, labels: { team: "shop" } } }, opts };
    };
    const priced: pulumi.ResourceTransformation = ({ props, opts }) => ({ props: { ...props, priced: true }, opts });
    const transforms = { transforms: [labeled], transformations: [priced] };
    const args: RoomArgs = {
        ...{ plan, stack: "local/0a1b2c3d", image: "node:22", programs, prefix: "slow-", transforms },
        parent: undefined as never,
    };
    const room = await new Promise<any>((resolve) => roomOf(args).apply(resolve));
    expect(room.job).toMatchObject({
        kind: "Job",
        priced: true,
        spec: { template: { metadata: { labels: { team: "shop" } } } },
    });
    expect(room.attacks[2]).toMatchObject({ kind: "Pod", metadata: { labels: { team: "shop" } } });
    // One that wants something of the engine leaves unknown what it changes.
    const engines = ({ opts }: pulumi.ResourceTransformArgs) => ({
        props: {},
        opts: { ...opts, provider: opts.provider!.constructor as never },
    });
    const unknown = { ...args, transforms: { transforms: [engines] } };
    expect(await new Promise((resolve) => roomOf(unknown).apply(resolve))).toEqual({ job: undefined, attacks: [] });
});
