import { load, loadAll } from "js-yaml";
import { describe, expect, it } from "vitest";
import { type Attack, attackKinds, exampleAttacks } from "../../../../chaos/kinds/attacks/registry";
import { describeRight } from "../../../../chaos/rights/review";
import { isRequired, type Right } from "../../../../chaos/cluster/resources";
import { roleRulesOf } from "../../../../chaos/witness/rules";
import { changedBy } from "../../../../chaos/ending/left";
import type { Plan } from "../../../../chaos/definition/plan";
import { merged, permissionsOf } from "../../../../chaos/rights/permissions";
import { rolesManifest } from "../../../../chaos/rights/roles";
import { everything } from "../../../../docs/permissions-table";
import { checkKinds } from "../../../../chaos/kinds/checks/registry";
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

const rightsFor = (attack: Attack, changes?: Partial<Plan>) => permissionsOf([planOf(attack, changes)]);
const on = (rights: readonly Right[], resource: string) => rights.filter((right) => right.resource === resource);
const told = (rights: readonly Right[]) =>
    rights.map((right) => `${isRequired(right) ? "" : "optional: "}${describeRight(right)}`);

describe("an experiment needs only what its kinds need:", () => {
    it("only kill deletes pods, and it never reads one or runs a process in it", () => {
        expect(told(on(rightsFor({ kind: "kill" }), "pods"))).toEqual([
            "list, patch, delete pods in namespace demo",
            "list pods in namespace demo-agent",
            "optional: watch, create pods in namespace demo",
        ]);
        expect(on(rightsFor({ kind: "kill" }), "pods/exec")).toEqual([]);
        expect(told(on(rightsFor({ kind: "kill" }), "networkpolicies"))).toEqual([
            "get, list, create, delete networkpolicies.networking.k8s.io in namespace demo",
            "optional: patch networkpolicies.networking.k8s.io in namespace demo",
        ]);
    });

    it("a kill by eviction evicts, and deletes no pod", () => {
        const rights = rightsFor({ kind: "kill", by: "eviction" });
        expect(told(on(rights, "pods/eviction"))).toEqual(["create pods/eviction in namespace demo"]);
        expect(told(on(rights, "pods"))[0]).toBe("list, patch pods in namespace demo");
        expect(on(rightsFor({ kind: "kill" }), "pods/eviction")).toEqual([]);
    });

    it("only a target that says something of nodes reads these", () => {
        const rightsOf = (target: string, peers?: string) => {
            const attack: Attack = { kind: "blackhole", peers };
            return rightsFor(attack, { attacks: [{ ...planOf(attack).attacks[0]!, target }] });
        };
        const nodes = ["list nodes in the whole cluster"];
        expect(told(on(rightsOf("k8s.zone=a"), "nodes"))).toEqual(nodes);
        expect(told(on(rightsOf("k8s.deployment=a", "k8s.node.label.disk!=ssd"), "nodes"))).toEqual(nodes);
        expect(on(rightsOf("k8s.deployment=a,k8s.node.name=a"), "nodes")).toEqual([]);
    });

    it.each<[Attack, string[]]>([
        [{ kind: "blackhole" }, ["get, create pods/exec in namespace demo"]],
        [{ kind: "dns" }, ["get, create pods/exec in namespace demo"]],
        [{ kind: "blackhole", direction: "ingress" }, ["optional: get, create pods/exec in namespace demo"]],
        [
            { kind: "blackhole", direction: "ingress", peers: "k8s.deployment=b,k8s.namespace=others" },
            ["get, create pods/exec in namespace others", "optional: get, create pods/exec in namespace demo"],
        ],
        [
            { kind: "blackhole", direction: "egress", peers: "k8s.deployment=b,k8s.namespace=others" },
            ["get, create pods/exec in namespace demo"],
        ],
        [
            { kind: "blackhole", peers: { host: "api.example.com", port: 443 } },
            ["get, create pods/exec in namespace demo"],
        ],
    ])("%j runs processes where its connections begin", (attack, expected) => {
        expect(told(on(rightsFor(attack), "pods/exec")).sort()).toEqual(expected);
    });

    it("a blackhole of a host that may be a Service looks at that, if it may", () => {
        const hosts = [
            "api",
            "api.demo",
            "api.payments.svc",
            "api.payments.svc.cluster.local",
            "example.com",
            "192.0.2.1",
        ];
        const services = hosts.map((host) =>
            told(on(rightsFor({ kind: "blackhole", peers: { host, port: 443 } }), "services")).find((one) =>
                one.includes(" api "),
            ),
        );
        // In the targets' own namespace, all Services are looked at that may serve webhooks.
        const others = "optional: get services api in namespace payments";
        expect(services).toEqual([undefined, undefined, others, others, undefined, undefined]);
    });

    it("an attack that may stay unproven outward does without running processes", () => {
        const { attacks } = planOf({ kind: "blackhole" });
        const rights = rightsFor({ kind: "blackhole" }, { attacks: [{ ...attacks[0]!, outward: "unproven" }] });
        expect(told(on(rights, "pods/exec"))).toEqual(["optional: get, create pods/exec in namespace demo"]);
    });

    it("a fault runs nothing in a pod, and must see its namespace and change its Service", () => {
        const rights = rightsFor({ kind: "fault", service: "hot-deals", delay: "2s" });
        expect(on(rights, "pods/exec")).toEqual([]);
        expect(told(on(rights, "namespaces"))).toContain("get namespaces demo in namespace demo");
        expect(told(on(rights, "endpointslices"))).toEqual([
            "list, watch endpointslices.discovery.k8s.io in namespace demo",
        ]);
        expect(told(on(rights, "targetgroupbindings"))).toEqual([
            "optional: list targetgroupbindings.elbv2.k8s.aws in namespace demo",
            "optional: list targetgroupbindings.eks.amazonaws.com in namespace demo",
        ]);
        expect(told(on(rights, "services"))).toContain(
            "get, list, watch, create, patch, delete services in namespace demo",
        );
    });

    it("an agent takes the place of the right to list ReplicaSets, and no right is for the whole cluster", () => {
        expect(on(rightsFor({ kind: "dns" }), "secrets")).toHaveLength(1);
        const withoutAgent = rightsFor({ kind: "dns" }, { agent: undefined });
        expect(on(withoutAgent, "secrets")).toEqual([]);
        expect(told(on(withoutAgent, "replicasets"))).toContain("list replicasets.apps in namespace demo");
        expect(withoutAgent.filter((right) => isRequired(right) && right.namespace === undefined)).toEqual([]);
    });

    it("scaling takes the Deployment by its name", () => {
        const actions = [{ kind: "scale" as const, deployment: "a", replicas: 2 }];
        expect(told(on(rightsFor({ kind: "dns" }, { actions }), "deployments"))).toEqual([
            "get, patch deployments.apps a in namespace demo",
            "list deployments.apps in namespace demo",
            "optional: get, patch deployments.apps in namespace demo",
        ]);
    });

    it("without an attack, it takes no right to attack, and a deadline Job's only to scale", () => {
        const without = (changes: Partial<Plan>) =>
            told(rightsFor({ kind: "dns" }, { attacks: [], agent: undefined, ...changes })).filter(
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
        const scaling = without({ actions: [{ kind: "scale", deployment: "a", replicas: 2 }] });
        expect(scaling.filter((right) => /create/.test(right)).length).toBe(6);
        expect(scaling.filter((right) => /exec|networkpolicies|pods/.test(right))).toEqual([
            "get, list, create, delete networkpolicies.networking.k8s.io in namespace demo",
            "list pods in namespace demo",
        ]);
    });

    it("an http check takes the API server's proxy only if no address answers", () => {
        const service = { namespace: "demo", name: "gateway", port: 80 };
        const check = { kind: "http" as const, path: "/orders", method: "POST" as const };
        const checks = [{ name: "orders", check, intervalMs: 1_000, timeoutMs: 1_000, successRate: 1 }];
        expect(told(on(rightsFor({ kind: "dns" }, { service, checks }), "services/proxy"))).toEqual([
            "optional: create services/proxy gateway:80 in namespace demo",
        ]);
    });
});

it.each(exampleAttacks)(
    "%j: the required rights include all that the deadline Job gets, or RBAC would refuse its Role",
    (attack) => {
        const actions = [{ kind: "scale" as const, deployment: "a", replicas: 2 }];
        const required = rightsFor(attack, { actions }).filter(isRequired);
        const changed = changedBy({ ...planOf(attack), actions });
        const rules = roleRulesOf(
            [{ attack, object: "tried-1234-x" }],
            changed,
            "tried-1234-deadline",
            "tried-1234-job",
        );
        for (const { apiGroups, resources, resourceNames = [undefined], verbs } of rules)
            for (const verb of verbs)
                for (const name of resourceNames) {
                    const asked = { verb, group: apiGroups[0]!, resource: resources[0]!, namespace: "demo", name };
                    expect([asked, allows(required, asked)]).toEqual([asked, true]);
                }
    },
);

it("Pulumi may list and watch whatever it deletes: without that it waits forever", () => {
    const created = rightsFor({ kind: "blackhole" }).filter(
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

    it("name each verb once", () => {
        const rights = [right({ namespace: "a" }), right({ namespace: "a", verbs: ["get", "list"], why: "count" })];
        expect(told(merged(rights))).toEqual(["get, list pods in namespace a"]);
        expect(merged(rights)[0]!.why).toBe("look; count");
    });

    it("leave out what a wider right includes", () => {
        const rights = [right({ namespace: "a", names: ["one"] }), right({ namespace: "a" }), right({})];
        expect(told(merged(rights))).toEqual(["get pods in the whole cluster"]);
    });

    it("are required if one part of the experiment requires them", () => {
        const rights = [right({ without: "nothing" }), right({})];
        expect(told(merged(rights))).toEqual(["get pods in the whole cluster"]);
    });

    it("keep a required right that an optional one includes", () => {
        const rights = [right({ namespace: "a" }), right({ without: "nothing" })];
        expect(told(merged(rights))).toEqual(["get pods in namespace a", "optional: get pods in the whole cluster"]);
    });
});

describe("the manifest", () => {
    const names = { name: "chaos-tried", clusterName: "chaos-tried-demo" };
    const manifest = (args = {}) => rolesManifest(rightsFor({ kind: "dns" }), { ...names, ...args });
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

it("docs/permissions.md has the rights of every kind of attack and check", () => {
    const kindsIn = (items: readonly { kind: string }[]) => new Set(items.map(({ kind }) => kind));
    expect(kindsIn(everything.attacks.map(({ attack }) => attack))).toEqual(new Set(attackKinds));
    expect(kindsIn(everything.checks.map(({ check }) => check))).toEqual(new Set(checkKinds));
});
