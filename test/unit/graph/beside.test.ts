import { beforeAll, expect, it } from "vitest";
import { Experiment, type ExperimentArgs } from "../../../chaos/face/experiment";
import { planOfArguments } from "../../../chaos/definition/arguments";
import { runNameOf } from "../../../chaos/definition/plan";
import { inputFrom } from "../../../chaos/run/contract";
import { type Asked, find, kinds, recordGraph } from "./support";

const kubeconfig = JSON.stringify({
    clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
    users: [{ name: "u", user: {} }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    "current-context": "c",
});
const programs = { stepCommand: "node steps.js", steps: "", deadline: "", proxy: "", sender: "void 'sender';" };
const load = { kind: "load", service: "web", path: "/", perSecond: 100 } as const;
const plan = planOfArguments("busy", {
    hypothesis: "It holds.",
    attacks: [{ kind: "dns", target: "k8s.deployment=web,k8s.namespace=demo" }],
    checks: [{ kind: "podsReady", of: "k8s.deployment=web" }],
    actions: [load, { ...load, path: "/other" }],
});
const runName = runNameOf({ ...plan, context: "c" }, "local/0a1b2c3d");
const baseline = [{ name: "pods", at: 1, outcomes: [] }];
const printed = {
    "busy-steady-state": { runName, pass: "0".repeat(16) },
    "busy-beside": { baseline },
    "busy-targets": { attacks: [{ name: "dns", matching: 0, targets: [] }] },
    "busy-check": { verdict: "PASSED" },
};
const graphOf = (more: Partial<ExperimentArgs> = {}) =>
    recordGraph(
        async () =>
            new Experiment("busy", {
                ...{
                    plan,
                    kubeconfig,
                    image: "node:22",
                    identity: "0a1b2c3d",
                    programs: () => programs,
                    enabled: true,
                },
                ...more,
            }),
        printed,
    );
const inputOf = (asked: Asked[], step: string) =>
    inputFrom<any>(find(asked, kinds.command, `busy-${step}`).environment.value as NodeJS.ProcessEnv);

let asked: Asked[];
beforeAll(async () => {
    asked = await graphOf({ pod: { labels: { team: "shop" } } });
});

it("loads begin once the Job is there that ends them, and before the targets are chosen", () => {
    const order = asked.map(({ name }) => name);
    const at = ["deadline", "beside", "targets", "dns", "check"].map((name) => order.indexOf(`busy-${name}`));
    expect(at).toEqual([...at].sort((a, b) => a - b));
    expect(at).not.toContain(-1);
    expect(inputOf(asked, "check").accompanied).toEqual(printed["busy-beside"]);
});

it("the steps get their pods as the program makes them, with what `pod` sets", () => {
    const { besides } = inputOf(asked, "beside").room as { besides: any[] };
    expect(besides.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
        ["Pod", `${runName}-load`],
        ["Pod", `${runName}-load-2`],
    ]);
    expect(besides[0].metadata.labels).toMatchObject({
        team: "shop",
        "chaos-experiments/experiment": "busy",
        "chaos-experiments/beside": "load",
    });
    expect(inputOf(asked, "steady-state").room.besides).toEqual(besides);
});

it("the deadline Job is told of them, and may delete these pods and no others", () => {
    const { env } = find(asked, kinds.job, "busy-deadline").spec.template.spec.containers[0];
    const besides = env.find(({ name }: { name: string }) => name === "BESIDES").value as string;
    const names = [`${runName}-load`, `${runName}-load-2`];
    expect(JSON.parse(besides)).toEqual(names.map((name) => `/api/v1/namespaces/demo/pods/${name}`));
    const { rules } = find(asked, "kubernetes:rbac.authorization.k8s.io/v1:Role", "busy-deadline-role");
    const ofPods = rules.filter(({ verbs }: any) => verbs.includes("delete") && !verbs.includes("list"));
    expect(ofPods).toContainEqual({
        apiGroups: [""],
        resources: ["pods"],
        resourceNames: names,
        verbs: ["get", "delete"],
    });
});

it("a run without a load has neither that step nor that variable", async () => {
    const without = await graphOf({ plan: { ...plan, actions: [] } });
    expect(without.map(({ name }) => name)).not.toContain("busy-beside");
    const { env } = find(without, kinds.job, "busy-deadline").spec.template.spec.containers[0];
    expect(env.map(({ name }: { name: string }) => name)).not.toContain("BESIDES");
});
