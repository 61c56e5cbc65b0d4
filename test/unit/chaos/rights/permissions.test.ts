import { load, loadAll } from "js-yaml";
import { describe, expect, it } from "vitest";
import { exampleActions } from "../../../../chaos/kinds/actions/registry";
import { type Attack, exampleAttacks } from "../../../../chaos/kinds/attacks/registry";
import { describeRight } from "../../../../chaos/rights/review";
import { isRequired, type Right } from "../../../../chaos/cluster/resources";
import { besidesOf, changedBy } from "../../../../chaos/ending/left";
import type { Plan } from "../../../../chaos/definition/plan";
import { grantsOf, merged, permissionsOf } from "../../../../chaos/rights/permissions";
import { rolesManifest } from "../../../../chaos/rights/roles";
import { jobRightsOf } from "../../../../chaos/rights/table";
import { allows } from "../support/fake-rbac";

function planOf(attack: Attack, changes: Partial<Plan> = {}): Plan {
    return {
        experiment: "tried",
        run: "1",
        hypothesis: "It holds.",
        context: "kind-kind",
        clusterName: "local",
        area: "Global",
        agent: { namespace: "demo-agent", name: "agent" },
        defaultNamespace: "demo",
        namespace: "demo",
        attacks: [{ name: attack.kind, target: "k8s.deployment=a", radius: { kind: "count", containers: 1 }, attack }],
        checks: [],
        actions: [],
        window: { durationMs: 1_000, graceMs: 0 },
        deadlineMs: 60_000,
        onFailure: "report",
        reports: "reports",
        ...changes,
    };
}

const on = (rights: readonly Right[], resource: string) => rights.filter((right) => right.resource === resource);
const told = (rights: readonly Right[]) =>
    rights.map((right) => `${isRequired(right) ? "" : "optional: "}${describeRight(right)}`);

const kill = planOf({ kind: "kill" });
const eviction = planOf({ kind: "kill", by: "eviction" });
const dns = planOf({ kind: "dns" });
const stress = planOf({ kind: "stress", cpu: "50%" });
const fail = planOf({ kind: "fail" });
const fault = planOf({ kind: "fault", service: "hot-deals", delay: "2s" });
const blackhole = (attack: Omit<Attack & { kind: "blackhole" }, "kind"> = {}) =>
    planOf({ kind: "blackhole", ...attack });
const ofHost = (host: string) => blackhole({ peers: { host, port: 443 } });
const others = "k8s.deployment=b,k8s.namespace=others";
const aimed = (aim: Partial<Plan["attacks"][0]>) => ({ ...dns, attacks: [{ ...blackhole().attacks[0]!, ...aim }] });
const scaling = { ...dns, actions: [{ kind: "scale" as const, deployment: "a", replicas: 2 }] };
const loading = { ...dns, actions: [{ kind: "load" as const, service: "gateway", path: "/", perSecond: 10 }] };
const check = { kind: "http" as const, path: "/orders", method: "POST" as const };
const checking: Partial<Plan> = {
    service: { namespace: "demo", name: "gateway", port: 80 },
    checks: [{ name: "orders", check, intervalMs: 1_000, timeoutMs: 1_000, successRate: 1 }],
};

const inShort = ({ namespace = "all", names = [], verbs, without }: Right) =>
    [...(without === undefined ? [] : ["optional"]), verbs.join(), ...names, `in ${namespace}`].join(" ");
const someServices = "list in demo; optional get,patch,delete in demo";
const api = "optional get api in payments";

it.each<[what: string, Plan, resource: string, expected: string]>([
    ["kill deletes", kill, "pods", "list,patch,delete in demo; list in demo-agent; optional get,watch,create in demo"],
    ["kill runs nothing", kill, "pods/exec", ""],
    ["kill evicts nothing", kill, "pods/eviction", ""],
    ["kill needs no policies", kill, "networkpolicies", "get,list,create,delete in demo; optional patch in demo"],
    ["an eviction", eviction, "pods/eviction", "create in demo"],
    [
        "an eviction",
        eviction,
        "pods",
        "list,patch in demo; list in demo-agent; optional get,watch,create,delete in demo",
    ],
    ["a target in a zone", aimed({ target: "k8s.zone=a" }), "nodes", "list in all"],
    ["a target on a node by name", aimed({ target: "k8s.deployment=a,k8s.node.name=a" }), "nodes", ""],
    ["peers by a label of nodes", blackhole({ peers: "k8s.node.label.disk!=ssd" }), "nodes", "list in all"],
    ["a blackhole", blackhole(), "pods/exec", "get,create in demo"],
    ["dns", dns, "pods/exec", "get,create in demo"],
    ["a control only", blackhole({ direction: "ingress" }), "pods/exec", "optional get,create in demo"],
    ["outward unproven", aimed({ outward: "unproven" }), "pods/exec", "optional get,create in demo"],
    [
        "from peers",
        blackhole({ direction: "ingress", peers: others }),
        "pods/exec",
        "get,create in others; optional get,create in demo",
    ],
    ["to peers", blackhole({ direction: "egress", peers: others }), "pods/exec", "get,create in demo"],
    ["to an address", ofHost("api.example.com"), "pods/exec", "get,create in demo"],
    ["a host that is no Service", ofHost("example.com"), "services", someServices],
    ["an address", ofHost("192.0.2.1"), "services", someServices],
    // In the targets' own namespace, all Services are looked at that a killed run may have changed.
    ["a Service of the namespace", ofHost("api"), "services", someServices],
    ["a Service of the namespace by a longer name", ofHost("api.demo"), "services", someServices],
    ["a Service elsewhere", ofHost("api.payments.svc"), "services", `${someServices}; ${api}`],
    ["its full name", ofHost("api.payments.svc.cluster.local"), "services", `${someServices}; ${api}`],
    ["a fault runs nothing", fault, "pods/exec", ""],
    ["a fault sees its namespace", fault, "namespaces", "get demo in demo; list in all"],
    ["a fault's proxy", fault, "endpointslices", "list,watch in demo"],
    ["a fault", fault, "targetgroupbindings", "optional list in demo; optional list in demo"],
    ["a fault changes its Service", fault, "services", "get,list,watch,create,patch,delete in demo"],
    ["a stress", stress, "pods/exec", "get,create in demo"],
    ["a stress", stress, "pods", "get,list,patch in demo; list in demo-agent; optional watch,create,delete in demo"],
    ["a fail runs nothing", fail, "pods/exec", ""],
    ["a fail", fail, "pods", "get,list,patch in demo; list in demo-agent; optional watch,create,delete in demo"],
    [
        "a load's pod",
        loading,
        "pods",
        "get,list,create,patch,delete in demo; list in demo-agent; optional watch in demo",
    ],
    ["a load's log", loading, "pods/log", "get in demo"],
    ["a load's Service", loading, "services", "list in demo; get gateway in demo; optional get,patch,delete in demo"],
    ["an agent", dns, "secrets", "get in demo-agent"],
    ["an agent", dns, "replicasets", "optional list in demo"],
    ["no agent", { ...dns, agent: undefined }, "secrets", ""],
    ["no agent", { ...dns, agent: undefined }, "replicasets", "list in demo"],
    ["scaling", scaling, "deployments", "get,patch a in demo; list in demo; optional get,patch in demo"],
    ["an http check", { ...dns, ...checking }, "services/proxy", "optional create gateway:80 in demo"],
])("%s: %s %s", (_, plan, resource, expected) => {
    const found = on(permissionsOf([plan]), resource);
    expect(found.map(inShort).join("; ")).toBe(expected);
});

it("without an agent, no required right is for the whole cluster", () => {
    const rights = permissionsOf([{ ...dns, agent: undefined }]);
    expect(rights.filter((right) => isRequired(right) && right.namespace === undefined)).toEqual([]);
});

it("without an attack, it takes no right to attack, and a deadline Job's only to scale", () => {
    const without = (changes: Partial<Plan>) =>
        told(permissionsOf([{ ...dns, attacks: [], agent: undefined, ...changes }])).filter(
            (right) => !/^optional|leases/.test(right),
        );
    const lists = [
        "configmaps",
        "jobs.batch",
        "networkpolicies.networking.k8s.io",
        "serviceaccounts",
        "pods",
        "services",
    ];
    const rbac = ["roles", "rolebindings"].map((resource) => `${resource}.rbac.authorization.k8s.io`);
    const observing = [
        ...[...lists, ...rbac, "deployments.apps"].map((resource) => `list ${resource} in namespace demo`),
        "get namespaces demo in namespace demo",
    ];
    expect(without({}).sort()).toEqual(observing.sort());
    const restarting = without({ actions: [{ kind: "rollout", deployment: "a" }] });
    expect(restarting.sort()).toEqual([...observing, "get, patch deployments.apps a in namespace demo"].sort());
    const rights = without({ actions: scaling.actions });
    expect(rights.filter((right) => /create/.test(right)).length).toBe(6);
    expect(rights.filter((right) => /exec|networkpolicies|pods/.test(right))).toEqual([
        "get, list, create, delete networkpolicies.networking.k8s.io in namespace demo",
        "list pods in namespace demo",
    ]);
});

it.each(exampleAttacks)(
    "%j: the required rights include all that the deadline Job gets, or RBAC would refuse its Role",
    (attack) => {
        const plan = planOf(attack, { actions: scaling.actions });
        const required = permissionsOf([plan]).filter(isRequired);
        const granted = jobRightsOf([{ attack, object: "object" }], changedBy(plan), "job", "policy");
        for (const { verb, apiGroup: group = "", resource, name } of grantsOf(granted)) {
            const asked = { verb, group, resource, namespace: "demo", name };
            expect([asked, allows(required, asked)]).toEqual([asked, true]);
        }
    },
);

it.each(exampleActions)("%j: the required rights include all that the deadline Job gets for it", (action) => {
    const plan = { ...dns, actions: [action] };
    const besides = besidesOf(plan, "object");
    const granted = jobRightsOf([], changedBy(plan), "job", "policy", { besides });
    const required = permissionsOf([plan]).filter(isRequired);
    const asked = grantsOf(granted).map(({ apiGroup: group = "", ...grant }) => ({
        ...grant,
        group,
        namespace: "demo",
    }));
    expect(asked.filter((one) => !allows(required, one))).toEqual([]);
});

it("Pulumi may list and watch all that it deletes: without that it waits forever", () => {
    const created = permissionsOf([blackhole()]).filter(
        (right) =>
            isRequired(right) && right.verbs.includes("create") && !["leases", "pods/exec"].includes(right.resource),
    );
    expect(created.map(({ resource }) => resource)).toEqual([
        "networkpolicies",
        "jobs",
        "rolebindings",
        "roles",
        "serviceaccounts",
        "configmaps",
    ]);
    for (const { verbs } of created) expect(verbs).toEqual(["get", "list", "watch", "create", "patch", "delete"]);
});

describe("merged rights", () => {
    const right = (changes: Partial<Right>): Right => ({ resource: "pods", verbs: ["get"], why: "look", ...changes });
    const inA = right({ namespace: "a" });
    const optional = right({ without: "nothing" });

    it.each<[string, Right[], string[]]>([
        ["name each verb once", [inA, { ...inA, verbs: ["get", "list"] }], ["get, list pods in namespace a"]],
        [
            "leave out what a wider right includes",
            [{ ...inA, names: ["one"] }, inA, right({})],
            ["get pods in the whole cluster"],
        ],
        [
            "are required if one part of the experiment requires them",
            [optional, right({})],
            ["get pods in the whole cluster"],
        ],
        [
            "keep a required right that an optional one includes",
            [inA, optional],
            ["get pods in namespace a", "optional: get pods in the whole cluster"],
        ],
    ])("%s", (_, rights, expected) => {
        expect(told(merged(rights))).toEqual(expected);
    });

    it("have the reasons of all", () => {
        expect(merged([inA, { ...inA, why: "count" }])[0]!.why).toBe("look; count");
    });
});

describe("the manifest", () => {
    const names = { name: "chaos-tried", clusterName: "chaos-tried-demo" };
    const manifest = (args = {}) => rolesManifest(permissionsOf([dns]), { ...names, ...args });
    const objects = (args = {}) => loadAll(manifest(args)) as Record<string, any>[];

    it("has a Role in each namespace and a ClusterRole, optional rules apart", () => {
        expect(objects().map(({ kind, metadata }) => [kind, metadata.namespace, metadata.name])).toEqual([
            ["Role", "demo", "chaos-tried"],
            ["Role", "demo", "chaos-tried-optional"],
            ["Role", "demo-agent", "chaos-tried"],
            ["ClusterRole", undefined, "chaos-tried-demo"],
            ["ClusterRole", undefined, "chaos-tried-demo-optional"],
        ]);
    });

    it("has no wildcard, and each rule has a reason", () => {
        expect(manifest()).not.toContain("*");
        for (const rule of manifest().split("  - apiGroups").slice(0, -1))
            expect(rule.trimEnd().split("\n").at(-1)).toMatch(/^ {2}# \S/);
    });

    it("says what is lost without each optional rule", () => {
        for (const document of manifest().split("---\n")) {
            const { metadata, rules } = load(document) as { metadata: { name: string }; rules: object[] };
            const losses = document.match(/# Without it: /g) ?? [];
            expect(losses).toHaveLength(metadata.name.endsWith("-optional") ? rules.length : 0);
        }
    });

    it("binds each role to the subjects that are given", () => {
        const subjects = [{ kind: "User", name: "system:serviceaccount:ci:runner" }] as const;
        const bound = objects({ subjects });
        const bindings = bound.filter(({ kind }) => kind.endsWith("Binding"));
        expect(bindings).toHaveLength(bound.length / 2);
        for (const { kind, metadata, roleRef, subjects: those } of bindings) {
            expect(`${roleRef.kind}Binding ${roleRef.name}`).toBe(`${kind} ${metadata.name}`);
            expect(those).toEqual([{ apiGroup: "rbac.authorization.k8s.io", ...subjects[0] }]);
        }
    });
});
