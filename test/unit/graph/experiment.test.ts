import type * as pulumi from "@pulumi/pulumi";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Attack, exampleAttacks, objectTypeOf } from "../../../chaos/kinds/attacks/registry";
import { productsCheck } from "../../../experiments/products";
import { heap } from "../../../chaos/witness/deadline";
import { Experiment, type ExperimentArgs } from "../../../chaos/face/experiment";
import { type Plan, type PlannedAttack } from "../../../chaos/definition/plan";
import { packed, podProgram } from "../../../chaos/pods/packed";
import { inputFrom } from "../../../chaos/run/contract";
import { type Asked, find, kinds, recordGraph } from "./support";

function attackOn(deployment: string, attack: Attack, name: string = attack.kind): PlannedAttack {
    return {
        name,
        target: `k8s.deployment=${deployment},k8s.namespace=demo`,
        radius: { kind: "count", containers: 1 },
        attack,
    };
}
const plan: Plan = {
    experiment: "hot-deals-blackhole",
    run: "1",
    hypothesis: "It holds.",
    context: "kind-kind",
    clusterName: "local",
    defaultNamespace: "demo",
    service: { namespace: "demo", name: "gateway", port: 80 },
    area: "Global",
    namespace: "demo",
    attacks: [attackOn("hot-deals", { kind: "blackhole" })],
    checks: [{ name: "/products", check: productsCheck, intervalMs: 1_000, timeoutMs: 5_000, successRate: 1 }],
    actions: [],
    window: { durationMs: 30_000, graceMs: 15_000 },
    deadlineMs: 600_000,
    onFailure: "report",
    reports: "reports",
};
const programs = () => ({
    stepCommand: "node step.js",
    steps: packed("void 'the steps';"),
    deadline: "void 'the Job';",
    proxy: "void 'the proxy';",
    sender: "void 'the sender';",
});
const target = {
    namespace: "demo",
    pod: "hot-deals-1",
    uid: "u",
    container: "hot-deals",
    containerId: "c",
    address: "10.0.0.1",
    ports: [8080],
};
const runName = "hot-deals-blackhole-0a1b2c3d";
const pass = "5f0c1b2e9d847a63";
const printed = {
    "steady-state": { runName, pass, route: { kind: "address", url: "http://x/products" } },
    targets: {
        attacks: [
            ...["blackhole", "kill"].map((name) => ({ name, matching: 1, targets: [target], chosenBy: "c0ffee00" })),
            { name: "dns", matching: 1, targets: [{ ...target, pod: "gateway-1" }] },
            { name: "blackhole-2", matching: 1, targets: [{ ...target, pod: "toys-bestseller-1" }] },
        ],
    },
    check: { verdict: "FAILED" },
};

const place = { enabled: true, image: "node:20", programs, identity: "0a1b2c3d" };

/** What an experiment named `it` asks for, by the names of its parts. */
async function partsOf(
    args: ExperimentArgs,
    found: Record<string, object> = printed,
    opts?: pulumi.ComponentResourceOptions,
): Promise<Asked[]> {
    const prefixed = Object.fromEntries(Object.entries(found).map(([name, value]) => [`it-${name}`, value]));
    const asked = await recordGraph(async () => new Experiment("it", args, opts), prefixed);
    return asked.map((one) => ({ ...one, name: one.name.replace(/^it-/, "") }));
}
const experimentOf = (changes: Partial<Plan> = {}, found?: Record<string, object>) =>
    partsOf({ ...place, plan: { ...plan, ...changes } }, found);
/** The environment of the deadline Job. */
function environmentOf(asked: Asked[]): Record<string, string> {
    const { env } = find(asked, kinds.job, "deadline").spec.template.spec.containers[0];
    return Object.fromEntries(env.map(({ name, value }: { name: string; value: string }) => [name, value]));
}
/** The deadline Job's right to give up its rights, with which the policy goes that lets it through. */
const ownRights = {
    apiGroups: ["rbac.authorization.k8s.io"],
    resources: ["rolebindings"],
    resourceNames: [`${runName}-deadline`],
    verbs: ["get", "delete"],
};
/** The deadline Job's right to look at the lease. */
const leaseRule = {
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
    resourceNames: ["chaos-experiment"],
    verbs: ["get"],
};
/** Its right to look at the policy that lets it through, if it has none to list all. */
const policyRule = {
    apiGroups: ["networking.k8s.io"],
    resources: ["networkpolicies"],
    resourceNames: [`${runName}-job`],
    verbs: ["get"],
};
let experiment: Asked[];
const usual = process.env.KUBECONFIG;
afterAll(() => {
    if (usual === undefined) delete process.env.KUBECONFIG;
    else process.env.KUBECONFIG = usual;
});
beforeAll(async () => {
    process.env.KUBECONFIG = join(__dirname, "..", "components", "cluster", "kubeconfigs", "kind.yaml");
    experiment = await experimentOf();
});

it("must tell each step who holds the lease: the stack, by name and identity", async () => {
    const asked = await partsOf({ ...place, plan, identity: "0123456789abcdef" });
    const steps = asked.filter(({ type }) => type === kinds.command);
    expect(new Set(steps.map(({ inputs }) => inputFrom(inputs.environment).stack))).toEqual(
        new Set(["local/0123456789abcdef"]),
    );
});

it("must be created in order: steady state, deadline, targets, attack, what ends it, check", () => {
    const at = (type: string, name: string) =>
        experiment.findIndex((resource) => resource.type === type && resource.name === name);
    const steps = [
        at(kinds.command, "steady-state"),
        at(kinds.job, "deadline"),
        at(kinds.command, "targets"),
        at(kinds.policy, "blackhole"),
        at(kinds.command, "end-attacks"),
        at(kinds.command, "check"),
    ];
    expect(steps).not.toContain(-1);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
});

it("must end the attacks in order also if the check was killed, and the state does not know it", () => {
    const removing = experiment.filter(({ inputs }) => inputs.delete?.endsWith(" end-attacks"));
    expect(removing.map(({ name, inputs }) => [name, inputs.create])).toEqual([["end-attacks", "exit 0"]]);
});

describe("the blackhole", () => {
    it("must select only the labeled pods, and allow nothing in or out", () => {
        const { spec, metadata } = find(experiment, kinds.policy, "blackhole");
        expect(spec).toEqual({
            podSelector: {
                matchLabels: {
                    "chaos-experiments/target": "hot-deals-blackhole.blackhole",
                    "chaos-experiments/chosen-by": "c0ffee00",
                },
            },
            policyTypes: ["Ingress", "Egress"],
        });
        expect(metadata.namespace).toBe("demo");
    });
});

describe("the deadline", () => {
    it("must be able to delete that policy, restore others, unlabel pods, read the lease, give its rights up", () => {
        const policy = find(experiment, kinds.policy, "blackhole").metadata.name;
        expect(find(experiment, kinds.role, "deadline-role").rules).toEqual([
            {
                apiGroups: ["networking.k8s.io"],
                resources: ["networkpolicies"],
                resourceNames: [policy],
                verbs: ["get", "delete"],
            },
            ownRights,
            leaseRule,
            { apiGroups: [""], resources: ["pods"], verbs: ["list", "patch"] },
            { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: ["get", "list", "patch"] },
        ]);
    });

    it("knows when to end which attack, and which pods to watch", () => {
        const policy = find(experiment, kinds.policy, "blackhole").metadata.name;
        const path = `/apis/networking.k8s.io/v1/namespaces/demo/networkpolicies/${policy}`;
        expect(environmentOf(experiment)).toEqual({
            NAMESPACE: "demo",
            ATTACKS: JSON.stringify([
                {
                    kind: "blackhole",
                    path,
                    label: "hot-deals-blackhole.blackhole",
                    what: "cut off from the network",
                    listenPort: 8080,
                },
            ]),
            CHANGED: "[]",
            DEADLINE_MS: "600000",
            LEASE: JSON.stringify({
                path: "/apis/coordination.k8s.io/v1/namespaces/demo/leases/chaos-experiment",
                run: runName,
            }),
        });
    });

    it("must be told its pod's addresses of both families: callers of either may be probes", () => {
        const { env } = find(experiment, kinds.job, "deadline").spec.template.spec.containers[0];
        expect(env).toContainEqual({
            name: "POD_IPS",
            valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIPs" } },
        });
    });

    it("and the attacks have the names that the first step has given the run", async () => {
        const found = { ...printed, "steady-state": { ...printed["steady-state"], runName: "a-run" } };
        const asked = await experimentOf({}, found);
        expect(find(asked, kinds.policy, "blackhole").metadata.name).toBe("a-run-blackhole");
        expect(find(asked, kinds.job, "deadline").metadata.name).toBe("a-run-deadline");
        expect(environmentOf(asked).LEASE).toContain('"run":"a-run"');
        expect(environmentOf(asked).ATTACKS).toContain("/networkpolicies/a-run-blackhole");
        const [{ resourceNames }] = find(asked, kinds.role, "deadline-role").rules;
        expect(resourceNames).toEqual(["a-run-blackhole"]);
    });

    it("must leave a lost node at once: meanwhile nothing would end the attacks", () => {
        const { tolerations } = find(experiment, kinds.job, "deadline").spec.template.spec;
        expect(tolerations).toEqual(
            ["not-ready", "unreachable"].map((condition) => ({
                key: `node.kubernetes.io/${condition}`,
                operator: "Exists",
                effect: "NoExecute",
                tolerationSeconds: 0,
            })),
        );
    });

    it("must bound its heap: the kernel kills what exceeds the limit of 96 MiB", () => {
        const [{ command, resources }] = find(experiment, kinds.job, "deadline").spec.template.spec.containers;
        expect(command).toEqual(["node", ...heap, ...podProgram("").args]);
        expect(resources.limits.memory).toBe("96Mi");
    });

    it("must run its program, which its ConfigMap has compressed", () => {
        const { binaryData, args } = podProgram("process.stdout.write(require('node:path').sep)");
        expect(find(experiment, kinds.configMap, "deadline-program").binaryData).toEqual(
            podProgram(programs().deadline).binaryData,
        );
        const folder = mkdtempSync(join(tmpdir(), "chaos-program-"));
        const [[file, zipped]] = Object.entries(binaryData) as [[string, string]];
        writeFileSync(join(folder, file), Buffer.from(zipped, "base64"));
        const [option, script] = args as [string, string];
        expect(execFileSync("node", [option, script.replace("/program/", `${folder}/`)]).toString()).toBe("/");
        rmSync(folder, { recursive: true });
    });

    it("must never be a target itself", () => {
        expect(find(experiment, kinds.job, "deadline").spec.template.metadata.labels).toHaveProperty(
            "chaos-experiments/experiment",
        );
    });

    it("must be no part of a mesh, which hides the network from the witness and keeps the Job running", () => {
        const { labels, annotations } = find(experiment, kinds.job, "deadline").spec.template.metadata;
        expect(labels).toMatchObject({
            "sidecar.istio.io/inject": "false",
            "istio.io/dataplane-mode": "none",
            "kuma.io/sidecar-injection": "disabled",
        });
        expect(annotations).toMatchObject({
            "linkerd.io/inject": "disabled",
            "consul.hashicorp.com/connect-inject": "false",
        });
    });

    it("must not be moved by an autoscaler that scales down, and run on Linux", () => {
        const { metadata, spec } = find(experiment, kinds.job, "deadline").spec.template;
        expect(metadata.annotations).toMatchObject({
            "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
            "karpenter.sh/do-not-disrupt": "true",
        });
        expect(spec.nodeSelector).toEqual({ "kubernetes.io/os": "linux" });
    });

    it("must not change if another version writes its pod or its policy differently", async () => {
        const ignored = new Map<string, string[]>();
        const transformations: pulumi.ResourceTransformation[] = [
            ({ type, opts }) => {
                const { ignoreChanges } = opts as pulumi.CustomResourceOptions;
                // The same are asked for what is tried by a dry run.
                if (ignoreChanges !== undefined) ignored.set(type, ignoreChanges);
                return undefined;
            },
        ];
        await partsOf({ ...place, plan }, printed, { transformations });
        // A Job would be replaced, which ends the run; a policy that the deadline has deleted would be created again.
        expect(ignored.get(kinds.job)).toEqual(["spec"]);
        expect(ignored.get(kinds.policy)).toEqual(["spec"]);
    });

    it("is awaited by the step that labels the targets, not by the engine, which would wait until it completes", () => {
        expect(find(experiment, kinds.job, "deadline").metadata.annotations).toEqual({
            "pulumi.com/skipAwait": "true",
        });
        const { deadlineJob } = inputFrom<"label-targets">(find(experiment, kinds.command, "targets").environment);
        expect(deadlineJob).toBe(find(experiment, kinds.job, "deadline").metadata.name);
    });
});

it("a Job that a refresh has not found, and that is made again, must change no step: it is no other run", async () => {
    const steps = (asked: Asked[]) => asked.filter(({ type }) => type === kinds.command);
    expect(steps(await experimentOf())).toEqual(steps(experiment));
});

describe("a kill", () => {
    let killing: Asked[];
    beforeAll(async () => {
        killing = await experimentOf({ attacks: [attackOn("hot-deals", { kind: "kill", intervalMs: 5_000 })] });
    });

    it("is a request to the deadline Job, created after the targets are labeled, and not a policy", () => {
        expect(killing.filter(({ type }) => type === kinds.policy)).toEqual([]);
        const killRequest = find(killing, kinds.configMap, "kill").metadata;
        expect(killRequest.annotations).toEqual({ "chaos-experiments/targets": target.pod });
        const [{ path, label, told }] = JSON.parse(environmentOf(killing).ATTACKS!);
        expect(path).toBe(`/api/v1/namespaces/demo/configmaps/${killRequest.name}`);
        const { target: expression, radius } = plan.attacks[0]!;
        expect(label).toBe("hot-deals-blackhole.kill");
        expect(told).toEqual({
            intervalMs: 5_000,
            effect: "killed repeatedly",
            target: expression,
            radius,
            clusterName: "local",
        });
    });

    it("must say how many containers matched, if the update that chose them noted it", async () => {
        const attacks = [attackOn("hot-deals", { kind: "kill" })];
        const asked = async (more: object) => {
            const targets = { attacks: [{ name: "kill", matching: 3, targets: [target], ...more }] };
            return find(await experimentOf({ attacks }, { ...printed, targets }), kinds.configMap, "kill").data;
        };
        expect(await asked({ atFirst: 3 })).toEqual({ atFirst: "3" });
        // By an earlier version: another request would replace that one.
        expect(await asked({})).toBeUndefined();
    });

    it("must name the nodes on which pods match, if the target says something of these", async () => {
        const attack = { ...attackOn("hot-deals", { kind: "kill" }), target: "k8s.zone=a,k8s.namespace=demo" };
        const targets = { attacks: [{ name: "kill", matching: 1, targets: [target], nodes: ["node-1", "node-2"] }] };
        const asked = await experimentOf({ attacks: [attack] }, { ...printed, targets });
        expect(find(asked, kinds.configMap, "kill").data).toEqual({ nodes: "node-1,node-2" });
        const [{ told }] = JSON.parse(environmentOf(asked).ATTACKS!);
        expect(told).toMatchObject({ target: "k8s.namespace=demo", isOnNodes: true });
    });

    it("must be able to delete pods of that namespace and that request, and list ReplicaSets", () => {
        const killRequest = find(killing, kinds.configMap, "kill").metadata.name;
        expect(find(killing, kinds.role, "deadline-role").rules).toEqual([
            { apiGroups: [""], resources: ["configmaps"], resourceNames: [killRequest], verbs: ["get", "delete"] },
            ownRights,
            leaseRule,
            { apiGroups: [""], resources: ["pods"], verbs: ["list", "patch"] },
            policyRule,
            { apiGroups: [""], resources: ["pods"], verbs: ["delete"] },
            { apiGroups: ["apps"], resources: ["replicasets"], verbs: ["list"] },
        ]);
    });
});

it("the deadline Job must be able to make Events if the account that runs the experiment is", async () => {
    const found = { ...printed["steady-state"], mayMakeEvents: true };
    const asked = await experimentOf({}, { ...printed, "steady-state": found });
    const rule = { apiGroups: [""], resources: ["events"], verbs: ["create"] };
    expect(find(asked, kinds.role, "deadline-role").rules).toContainEqual(rule);
    expect(find(experiment, kinds.role, "deadline-role").rules).not.toContainEqual(rule);
});

it.each(exampleAttacks.map((attack) => [attack.kind, attack] as const))(
    "the object of %s must have the label and the annotation by which the sweep finds it: %j",
    async (kind, attack) => {
        const found = { service: "hot-deals", selector: {}, ports: [] };
        const targets = { attacks: [{ name: kind, matching: 1, targets: [target], found }] };
        const asked = await experimentOf({ attacks: [attackOn("hot-deals", attack)] }, { ...printed, targets });
        const ofType = asked.filter(
            ({ type, name }) => type.endsWith(`:${objectTypeOf(attack).kind}`) && name === kind,
        );
        expect(ofType.map(({ inputs }) => inputs.metadata)).toEqual([
            expect.objectContaining({
                name: `${runName}-${kind}`,
                labels: expect.objectContaining({ "chaos-experiments/experiment": plan.experiment }),
                annotations: expect.objectContaining({ "chaos-experiments/targets": "hot-deals-1" }),
            }),
        ]);
    },
);

describe("several attacks", () => {
    let several: Asked[];
    beforeAll(async () => {
        several = await experimentOf({
            attacks: [
                attackOn("hot-deals", { kind: "blackhole" }),
                attackOn("gateway", { kind: "dns" }),
                attackOn("toys-bestseller", { kind: "blackhole" }, "blackhole-2"),
            ],
        });
    });
    const names = ["blackhole", "dns", "blackhole-2"];

    it("must have one object each, which selects only its own pods", () => {
        const policies = names.map((name) => find(several, kinds.policy, name));
        expect(policies.map(({ spec }) => spec.podSelector.matchLabels["chaos-experiments/target"])).toEqual(
            names.map((name) => `hot-deals-blackhole.${name}`),
        );
        expect(new Set(policies.map(({ metadata }) => metadata.name)).size).toBe(3);
        expect(policies[1]!.metadata.annotations).toEqual({ "chaos-experiments/targets": "gateway-1" });
    });

    it("must be ended by one Job, which may delete those objects and no others", () => {
        const objects = names.map((name) => find(several, kinds.policy, name).metadata.name);
        expect(find(several, kinds.role, "deadline-role").rules[0]).toEqual({
            apiGroups: ["networking.k8s.io"],
            resources: ["networkpolicies"],
            resourceNames: objects,
            verbs: ["get", "delete"],
        });
        expect(
            JSON.parse(environmentOf(several).ATTACKS!).map(({ path }: { path: string }) => path.split("/").at(-1)),
        ).toEqual(objects);
    });
});

it("a blackhole of some peers must exclude exactly them, by label and by address", async () => {
    const peers = [{ ...target, address: "10.0.0.9", addresses: ["10.0.0.9", "fd00::9"] }];
    const peersLabel = { key: "app", values: ["database"] };
    const found = {
        ...printed,
        targets: { attacks: [{ name: "blackhole", matching: 1, targets: [target], peers, peersLabel }] },
    };
    const attacks = [
        attackOn("hot-deals", {
            kind: "blackhole",
            direction: "egress",
            peers: "k8s.deployment=database,k8s.namespace=demo",
        }),
    ];
    const { spec } = find(await experimentOf({ attacks }, found), kinds.policy, "blackhole");
    const notIn = (key: string, value: string) => ({ matchExpressions: [{ key, operator: "NotIn", values: [value] }] });
    expect(spec.egress).toEqual([
        {
            to: [
                { namespaceSelector: notIn("kubernetes.io/metadata.name", "demo") },
                { namespaceSelector: {}, podSelector: notIn("app", "database") },
                { ipBlock: { cidr: "0.0.0.0/0", except: ["10.0.0.9/32"] } },
                { ipBlock: { cidr: "::/0", except: ["fd00::9/128"] } },
            ],
        },
    ]);
});

it("a blackhole of a host must exclude the addresses that it has in the targets, at its port", async () => {
    const hosts = [{ host: "api.example.com", port: 443, addresses: ["203.0.113.7", "2001:db8::7"] }];
    const found = { ...printed, targets: { attacks: [{ name: "blackhole", matching: 1, targets: [target], hosts }] } };
    const attacks = [attackOn("hot-deals", { kind: "blackhole", peers: { host: "api.example.com", port: 443 } })];
    const { spec } = find(await experimentOf({ attacks }, found), kinds.policy, "blackhole");
    expect(spec.policyTypes).toEqual(["Egress"]);
    const other = (protocol: string) => [
        { protocol, port: 1, endPort: 442 },
        { protocol, port: 444, endPort: 65_535 },
    ];
    expect(spec.egress).toEqual([
        {
            to: [
                { namespaceSelector: {} },
                { ipBlock: { cidr: "0.0.0.0/0", except: ["203.0.113.7/32"] } },
                { ipBlock: { cidr: "::/0", except: ["2001:db8::7/128"] } },
            ],
        },
        {
            to: [{ ipBlock: { cidr: "203.0.113.7/32" } }, { ipBlock: { cidr: "2001:db8::7/128" } }],
            ports: [...other("TCP"), ...other("UDP"), { protocol: "SCTP" }],
        },
    ]);
});

it("the deadline Job must be able to restore the Deployments that the experiment scales, and no others", async () => {
    const scaling = await experimentOf({
        actions: [
            { kind: "wait", durationMs: 1_000 },
            { kind: "scale", deployment: "hot-deals", replicas: 3 },
        ],
    });
    expect(find(scaling, kinds.role, "deadline-role").rules.at(-1)).toEqual({
        apiGroups: ["apps"],
        resources: ["deployments"],
        resourceNames: ["hot-deals"],
        verbs: ["get", "patch"],
    });
    expect(JSON.parse(environmentOf(scaling).CHANGED!)).toEqual([
        "/apis/apps/v1/namespaces/demo/deployments/hot-deals",
    ]);
});

describe("an experiment without an attack", () => {
    const names = (asked: readonly Asked[], type: string) =>
        asked.filter((one) => one.type === type).map(({ name }) => name);

    it("must have no part that could attack, nor a deadline Job", async () => {
        const asked = await experimentOf({ attacks: [], actions: [{ kind: "rollout", deployment: "gateway" }] });
        expect(names(asked, kinds.command)).toEqual(["steady-state", "check"]);
        for (const kind of [kinds.job, kinds.policy, kinds.role]) expect(names(asked, kind)).toEqual([]);
    });

    it("must have the Job if it scales: it restores the Deployment", async () => {
        const actions = [{ kind: "scale" as const, deployment: "gateway", replicas: 3 }];
        const asked = await experimentOf({ attacks: [], actions }, { ...printed, targets: { attacks: [] } });
        expect(names(asked, kinds.command)).toEqual(["steady-state", "targets", "end-attacks", "check"]);
        expect(names(asked, kinds.policy)).toEqual([]);
        expect(find(asked, kinds.role, "deadline-role").rules).toEqual([
            ownRights,
            leaseRule,
            policyRule,
            { apiGroups: ["apps"], resources: ["deployments"], resourceNames: ["gateway"], verbs: ["get", "patch"] },
        ]);
        expect(environmentOf(asked)).toMatchObject({
            ATTACKS: "[]",
            CHANGED: JSON.stringify(["/apis/apps/v1/namespaces/demo/deployments/gateway"]),
        });
    });
});

describe("another plan must be another run: each step is replaced", () => {
    it.each<[string, Partial<Plan>]>([
        ["run", { run: "2" }],
        ["radius", { attacks: [{ ...plan.attacks[0]!, radius: { kind: "all" } }] }],
        ["target", { attacks: [attackOn("toys-bestseller", { kind: "blackhole" })] }],
        ["check", { checks: [{ ...plan.checks[0]!, successRate: 0.5 }] }],
        ["window", { window: { ...plan.window, durationMs: 60_000 } }],
    ])("%s", async (_, changes) => {
        const other = await experimentOf(changes);
        for (const step of ["steady-state", "targets", "check"]) {
            expect(find(other, kinds.command, step).triggers[0]).not.toEqual(
                find(experiment, kinds.command, step).triggers[0],
            );
        }
    });

    it("the same plan is the same run", async () => {
        const triggers = (asked: Asked[]) => find(asked, kinds.command, "steady-state").triggers[0];
        expect(triggers(await experimentOf())).toEqual(triggers(experiment));
    });
});

it("what is in the state must stay: other triggers would replace the steps of an enabled experiment", async () => {
    const triggersOf = (asked: Asked[]) =>
        asked.filter(({ type }) => type === kinds.command).map(({ name, inputs }) => [name, ...inputs.triggers]);
    expect(triggersOf(experiment)).toEqual([
        ["steady-state", "dd8c9628"],
        ["targets", "f0855aa6"],
        ["end-attacks", "9c140a8e"],
        ["check", "53f39f4a"],
    ]);
    const without = await experimentOf({ attacks: [] });
    expect(triggersOf(without)).toEqual([
        ["steady-state", "c4ed9d3a"],
        ["check", "06fc66cf"],
    ]);
});
