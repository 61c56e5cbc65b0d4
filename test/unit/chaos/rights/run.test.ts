import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { actionKindOf, exampleActions } from "../../../../chaos/kinds/actions/registry";
import { type Attack, attackKindOf, exampleAttacks } from "../../../../chaos/kinds/attacks/registry";
import { checkKindOf, exampleChecks } from "../../../../chaos/kinds/checks/registry";
import { isRequired, type Right } from "../../../../chaos/cluster/resources";
import { endRuns } from "../../../../chaos/ending/end-run";
import { leaseName } from "../../../../chaos/lease/lease-record";
import { permissionsOf } from "../../../../chaos/rights/permissions";
import { keptJournals } from "../../../support/kept-journals";
import { check } from "../../../../chaos/run/check";
import { labelTargets } from "../../../../chaos/run/label-targets";
import { recovery } from "../../../../chaos/run/recovery";
import { steadyState } from "../../../../chaos/run/steady-state";
import { addService, contextOf } from "../kinds/checks/support";
import { refuse } from "../support/fake-cluster";
import { limit } from "../support/fake-rbac";
import { attackObject, FakeRun, job } from "../support/fake-run";
import { settled } from "../support/time";

let run: FakeRun;
beforeEach(() => {
    run = new FakeRun();
    const labels = { "chaos-experiments/experiment": run.plan.experiment };
    run.cluster.add("NetworkPolicy", "left", { metadata: { labels } });
    for (const kind of ["Job", "Role", "RoleBinding", "ServiceAccount", "ConfigMap"] as const)
        run.cluster.add(kind, "left", { metadata: { labels } });
});
afterEach(() => run.close());

/** All steps of a run after a killed one, its attack, and its undoing. @returns the verdict */
async function wholeRun(): Promise<string> {
    const { context } = run;
    const found = await settled(steadyState(context, {}));
    const targets = await settled(labelTargets(context, { steadyState: found, deadlineJob: job }));
    run.attack();
    const labels = { "chaos-experiments/experiment": run.plan.experiment };
    run.cluster.get("NetworkPolicy", attackObject).metadata.labels = labels;
    const given = { steadyState: { ...found, runName: "run" }, targets, deadlineJob: job };
    const { verdict } = await settled(check(context, given));
    await settled(endRuns(run.cluster.api, { stack: "ours", defaultNamespace: "demo" }));
    await settled(recovery(context, {}));
    return verdict;
}

/** Gives the account only some of the rights that the plan needs. */
function give(isGiven: (right: Right) => boolean): void {
    limit(run.cluster, permissionsOf([run.plan]).filter(isGiven));
}

describe("an account with exactly the required rights", () => {
    const isCut = () => run.cluster.names("NetworkPolicy").includes(attackObject);

    it.each<[Attack, { probe: (asked: readonly string[]) => boolean; witness: boolean }]>([
        [{ kind: "blackhole" }, { probe: () => !isCut(), witness: false }],
        [
            { kind: "blackhole", direction: "ingress" },
            { probe: () => true, witness: false },
        ],
        [
            { kind: "blackhole", direction: "egress" },
            { probe: () => !isCut(), witness: true },
        ],
        // A lookup has one argument, a connection has two.
        [{ kind: "dns" }, { probe: (asked) => asked.length > 1 || !isCut(), witness: true }],
    ])("runs %j to its verdict, and undoes it", async (attack, { probe, witness }) => {
        run.plan.attacks[0]!.attack = attack;
        run.probe = (_, asked) => probe(asked);
        if (witness) run.reachable = ["10.0.0.1", "10.0.0.2"];
        give(isRequired);
        expect(await wholeRun()).toBe("PASSED");
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
        expect(run.cluster.names("Lease")).toEqual([]);
    });

    it("needs to run nothing in a pod, if the attack may stay unproven outward", async () => {
        run.plan.attacks[0]!.outward = "unproven";
        run.cluster.api.exec = () => Promise.reject(new Error("forbidden"));
        give(isRequired);
        expect(await wholeRun()).toBe("PASSED");
        const { conclusion } = keptJournals(run.plan.reports)[0]!;
        expect(conclusion.outwardUnproven).toMatchObject([{ attack: "blackhole", pods: [expect.any(String)] }]);
    });

    it("restores what an action has scaled", async () => {
        run.plan.actions = [{ kind: "scale", deployment: "hot-deals", replicas: 3 }];
        give(isRequired);
        expect(await wholeRun()).toBe("PASSED");
        expect(run.cluster.get("Deployment", "hot-deals").spec.replicas).toBe(2);
    });

    it("asks an agent, and lists no pods of other namespaces", async () => {
        const attributes = { "k8s.namespace": "demo", "k8s.deployment": "hot-deals" };
        run.addAgent("demo-agent", [{ ...run.target(), ready: true, attributes }]);
        run.plan.agent = { namespace: "demo-agent", name: "agent" };
        give(isRequired);
        await settled(steadyState(run.context, {}));
        expect(run.cluster.calls).not.toContain("list all Pod");
    });
});

describe("the first step", () => {
    const lacking = (...resources: string[]) => give((right) => !resources.includes(right.resource));

    it("aborts with all required rights that the account lacks, before it touches anything", async () => {
        lacking("jobs", "pods/exec", "events");
        await expect(settled(steadyState(run.context, {}))).rejects.toThrow(
            /^ABORTED \(missing-right\): the account lacks rights .*: .*jobs\.batch in namespace demo; .*\/exec/,
        );
        expect(run.cluster.calls.filter((call) => !/^create SelfSubject/.test(call))).toEqual([]);
        expect(keptJournals(run.plan.reports)).toMatchObject([{ conclusion: { verdict: "ABORTED", attack: "none" } }]);
    });

    it("names the command that prints the rights", async () => {
        lacking("jobs");
        run.plan.stack = "cloud";
        await expect(settled(steadyState(run.context, {}))).rejects.toThrow(
            "Nothing was attacked. Ask the cluster's administrator for them. All that this experiment needs: " +
                "npm run -s render -- --permissions hot-deals-blackhole --stack cloud",
        );
    });

    it("names a right for some objects with their name", async () => {
        give(({ resource, names }) => resource !== "leases" || names === undefined);
        await expect(settled(steadyState(run.context, {}))).rejects.toThrow(
            `get, update, patch, delete leases.coordination.k8s.io ${leaseName} in namespace demo`,
        );
    });

    it("asks once for each namespace", async () => {
        await settled(steadyState(run.context, {}));
        const asked = run.cluster.calls.filter((call) => call.startsWith("create SelfSubject"));
        // The second is for Events, which the Job may make if the account certainly may.
        expect(asked).toEqual(["create SelfSubjectRulesReview", "create SelfSubjectAccessReview"]);
    });

    it("goes on in a cluster that does not answer such questions", async () => {
        run.cluster.intercept = (call) => {
            if (call.startsWith("create SelfSubject")) refuse(403, "forbidden");
        };
        await settled(steadyState(run.context, {}));
        expect(run.cluster.names("Lease")).toEqual([leaseName]);
    });

    it("goes on if an authorizer fails instead of answering", async () => {
        run.cluster.rules = [];
        run.cluster.access = () => ({ allowed: false, evaluationError: "webhook timed out" });
        await settled(steadyState(run.context, {}));
        expect(run.cluster.names("Lease")).toEqual([leaseName]);
    });
});

it("a right that is lost during the run is named by the reason", async () => {
    run.plan.actions = [{ kind: "scale", deployment: "hot-deals", replicas: 3 }];
    const right = 'cannot patch resource "deployments" in API group "apps" in the namespace "demo"';
    run.cluster.intercept = (call) => {
        if (call === "patch Deployment") refuse(403, `deployments.apps "x" is forbidden: User "ada" ${right}`);
    };
    await wholeRun();
    expect(keptJournals(run.plan.reports)[0]!.conclusion.reason).toContain(
        'not possible to scale hot-deals to 3: the account "ada" may not patch deployments in namespace demo (403)',
    );
});

describe("a kind asks the API server for no more than its rights:", () => {
    /** The examples' names are in capitals. */
    const named = JSON.stringify([exampleAttacks, exampleChecks, exampleActions]).match(/"[A-Z]+"/g)!;

    /** The calls that an account is refused which has these rights, where all objects of the examples are. */
    async function refusedWith(rights: readonly Right[], act: () => Promise<unknown>): Promise<string[]> {
        for (const namespace of ["demo", "check"])
            for (const name of ["gateway", ...named.map((one) => one.slice(1, -1))]) {
                addService(run.cluster, name, [{ port: 80 }], undefined, namespace);
                run.cluster.add("Deployment", name, { spec: { replicas: 0 } }, namespace);
                run.cluster.add("Secret", name, { data: { key: "eA==" } }, namespace);
                run.cluster.add("ConfigMap", name, { data: { "ca.crt": "" } }, namespace);
            }
        const refused = limit(run.cluster, rights);
        // Whether it succeeds is for other tests.
        await settled(act().catch(() => undefined));
        return refused;
    }
    const service = { namespace: "demo", name: "gateway", port: 80 };

    it.each(exampleChecks)("%j", async (check) => {
        const kind = checkKindOf(check);
        const rights = kind.rights(check, { defaultNamespace: "demo", service });
        expect(await refusedWith(rights, () => kind.probe(check, contextOf(run.cluster), 1_000))).toEqual([]);
    });

    it.each(exampleActions)("%j", async (action) => {
        const { plan, cluster } = run.context;
        const context = { cluster, namespace: "demo", run: "run", endsAt: Date.now() + 1_000 };
        const rights = permissionsOf([{ ...plan, actions: [action] }]).filter(isRequired);
        const kind = actionKindOf(action);
        const act = async () => {
            await kind.beside?.equip(action, {}, context);
            await kind.perform?.(action, context);
        };
        expect(await refusedWith(rights, act)).toEqual([]);
    });

    it.each(exampleAttacks)("%j", async (attack) => {
        const { plan, cluster } = run.context;
        const rights = permissionsOf([{ ...plan, attacks: [{ ...plan.attacks[0]!, attack }] }]);
        const kind = attackKindOf(attack);
        const of = { experiment: "tried", namespace: "demo", run: "run", object: "run-attack", label: "tried.attack" };
        const act = async () => {
            const { found } = (await kind.find?.(attack, cluster, "demo").catch(() => undefined)) ?? {};
            const chosen = { name: "attack", matching: 1, targets: [run.target()], found };
            const begun = { ...plan.attacks[0]!, ...of, attack, chosen };
            await kind.tryOut?.(begun, cluster).catch(() => undefined);
            await kind.begin?.(begun, cluster).catch(() => undefined);
            await kind.beginCounting?.(begun, cluster).catch(() => undefined);
            await kind.explain?.(begun, cluster, "job").catch(() => undefined);
            await kind.count?.(begun, cluster);
        };
        expect(await refusedWith(rights, act)).toEqual([]);
    });
});
