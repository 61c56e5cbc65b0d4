import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { settling } from "../../../../chaos/values/async";
import type { Action } from "../../../../chaos/kinds/actions/registry";
import { http } from "../../../../chaos/kinds/checks/http";
import { runNameOf } from "../../../../chaos/definition/plan";
import { acquireLease } from "../../../../chaos/lease/lease";
import { leaseName } from "../../../../chaos/lease/lease-record";
import { keptJournals } from "../../../support/kept-journals";
import { steadyState } from "../../../../chaos/run/steady-state";
import type { Room } from "../../../../chaos/run/contract";
import type { Radius } from "../../../../chaos/targets/radius";
import { type FakeRequest, refuse } from "../support/fake-cluster";
import { FakeRun } from "../support/fake-run";
import { settled } from "../support/time";
import { inOrder } from "../../../support/in-order";

let run: FakeRun;
beforeEach(() => {
    run = new FakeRun();
});
afterEach(() => run.close());

const step = () => settled(steadyState(run.context, {}));
const leases = () => run.cluster.names("Lease");
/** The step is ABORTED in these words, and its lease is released. */
const isAborted = async (words: string | RegExp) => {
    await expect(step()).rejects.toThrow(words);
    expect(leases()).toEqual([]);
};

it("the steady state holds the lease, and gives the latency of the slowest of three good answers", async () => {
    const found = await step();
    expect(found).toEqual({
        runName: runNameOf(run.plan, "ours"),
        pass: expect.stringMatching(/^[0-9a-f]{16}$/),
        mayMakeEvents: true,
        namespaceUid: expect.any(String),
        latencyMs: expect.any(Number),
        checks: [{ name: "pods", answers: Array(3).fill({ at: expect.any(Number), latencyMs: 0, good: true }) }],
    });
    // Nobody can know it before the run, though a run of the same plan has the same name.
    expect((await step()).pass).not.toBe(found.pass);
    run.said.splice(3);
    expect(leases()).toEqual([leaseName]);
    expect(run.said).toEqual([
        "To stop this experiment at any time: " +
            "kubectl --context kind-kind --namespace demo delete lease chaos-experiment",
        "Checking pods",
        expect.stringMatching(/^Steady: 3 good answers in a row/),
    ]);
});

it("the command that stops a run names the kubeconfig's context if the program names none", async () => {
    run.plan.context = undefined;
    run.cluster.api.kubeconfig.setCurrentContext("kind-of-the-kubeconfig");
    await step();
    expect(run.said[0]).toContain("kubectl --context kind-of-the-kubeconfig --namespace demo delete lease");
});

it("gives the lease back if it waits for what can never come", async () => {
    run.plan.checks[0]!.check = { kind: "http", path: "/", url: "http://127.0.0.1:1" };
    vi.spyOn(http, "probe").mockReturnValue(new Promise(() => undefined));
    const stuck = expect(settling(step)).rejects.toThrow("the program ended without a result");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(leases()).toEqual([leaseName]);
    // What Node.js does once nothing is left to happen.
    process.emit("beforeExit", 0);
    await stuck;
    expect(leases()).toEqual([]);
});

it("why a run is ABORTED is said also if its report cannot be written", async () => {
    await acquireLease(run.cluster.api, { stack: "theirs", plan: run.plan });
    run.cluster.intercept = (call) => {
        if (call !== "get Lease") return;
        rmSync(run.plan.reports, { recursive: true });
        writeFileSync(run.plan.reports, "a file in the folder's place");
    };
    await expect(step()).rejects.toThrow(/^ABORTED \(namespace-busy\): stack theirs /);
    expect(run.said.at(-1)).toMatch(/^The report could not be written: E/);
});

it("the steady state hands on the routes to the Services that checks name", async () => {
    const route = { kind: "apiServer", path: "/api/v1/namespaces/shop/services/orders:8080/proxy" } as const;
    run.cluster.add("Service", "orders", { spec: { ports: [{ port: 8080 }] } }, "shop");
    const check = { kind: "http", path: "/", service: "orders", namespace: "shop" } as const;
    run.plan.checks = [{ ...run.plan.checks[0]!, name: "orders", check }];
    vi.spyOn(http, "probe").mockImplementation(async (asked, { endpoints }) => {
        await endpoints.of(asked);
        return { at: Date.now(), latencyMs: 5, good: true };
    });
    expect(await step()).toMatchObject({ routes: { "http://shop/orders": route }, latencyMs: 5 });
    expect(run.said).toContain(
        "Asking http://shop/orders at the API server's proxy, since no external address answers",
    );
});

it("it waits up to ten seconds for the checks", async () => {
    for (const pod of ["hot-deals-1", "hot-deals-2"]) run.setReady(pod, false);
    run.after(9_000, () => run.setReady("hot-deals-1", true));
    await step();
    expect(leases()).toEqual([leaseName]);
});

it("it removes what a killed run has left", async () => {
    run.cluster.add("NetworkPolicy", "left", {
        metadata: { labels: { "chaos-experiments/experiment": run.plan.experiment } },
    });
    await step();
    expect(run.cluster.names("NetworkPolicy")).toEqual([]);
    expect(run.said).toContain("Removed what an earlier run left behind: 1 object");
});

describe("a rollout of what matches a target could replace the target", () => {
    const rolling = { replicas: 3, updatedReplicas: 2 };
    const complete = { replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
    const waited = "Waited for the targets' rollout: it would have replaced some of them";
    const setStatus = (status: object) => {
        run.cluster.get("Deployment", "hot-deals").status = status;
    };

    it("the steady state waits for it, and looks for targets again", async () => {
        setStatus(rolling);
        run.after(5_000, () => {
            setStatus(complete);
            for (const pod of ["hot-deals-1", "hot-deals-2"]) run.cluster.remove("Pod", pod);
        });
        await expect(step()).rejects.toThrow(/no running container matches/);
        expect(run.said).toContain(waited);
    });

    it("if it does not end, the run begins after 30 s, and says so", async () => {
        setStatus(rolling);
        const begun = Date.now();
        await step();
        expect(Date.now() - begun).toBeGreaterThanOrEqual(30_000);
        expect(run.said).toContainEqual(
            expect.stringMatching(/^The rollout has not ended, .*: Deployment hot-deals: 1 old pod is left$/),
        );
    });

    it.each<[string, () => unknown]>([
        ["it waits for somebody", () => void (run.cluster.get("Deployment", "hot-deals").spec.paused = true)],
        ["its new pods are not available", () => setStatus({ ...complete, availableReplicas: 0 })],
        ["the Deployment is gone", () => run.cluster.remove("Deployment", "hot-deals")],
        [
            "the account may not see it",
            () => [setStatus(rolling), run.cluster.refuses("get Deployment", 403, "forbidden")],
        ],
    ])("but the run begins at once if %s", async (_, change) => {
        change();
        const begun = Date.now();
        await step();
        expect(Date.now() - begun).toBeLessThan(5_000);
        expect(run.said).not.toContain(waited);
    });
});

describe("a run is aborted, and nothing is attacked,", () => {
    it("if a check is not steady: the report says so, and the lease is released", async () => {
        run.plan.stack = "cloud";
        for (const pod of ["hot-deals-1", "hot-deals-2"]) run.setReady(pod, false);
        await isAborted(
            "ABORTED (no-steady-state): there is no steady state: pods: 0 ready (required: at least 1). Nothing was " +
                "attacked. Repair the application first (npx pulumi config set experiment.enabled false --stack " +
                "cloud && npx pulumi up --stack cloud; `kubectl",
        );
        const [journal] = keptJournals(run.plan.reports);
        expect(journal!.conclusion).toMatchObject({
            verdict: "ABORTED",
            code: "no-steady-state",
            reason: expect.stringMatching(/^there is no steady state: .*\.$/),
            attack: "none",
            targets: [],
        });
        expect(journal!.checks[0]!.answers.length).toBeGreaterThan(3);
    });

    it("if a check is not steady in a run of a command: that disables it itself, and does the run again", async () => {
        run.plan.command = "npm run experiment -- hot-deals-blackhole";
        for (const pod of ["hot-deals-1", "hot-deals-2"]) run.setReady(pod, false);
        await isAborted(
            "Repair the application first (`kubectl --context kind-kind --namespace demo get pods`), then: npm run " +
                "experiment -- hot-deals-blackhole",
        );
    });

    it("if a check names a Service or a Secret that is not there: the problem says what to do", async () => {
        const [planned] = run.plan.checks;
        const asking = (name: string, fields: object) => ({
            ...planned!,
            name,
            check: { kind: "http", path: "/health", ...fields } as const,
        });
        const headersFrom = { "X-Key": { secret: "gone", key: "key" } };
        run.plan.checks = [
            asking("orders", { service: "orders", namespace: "shop" }),
            asking("toys", { url: "http://127.0.0.1:1", headersFrom }),
        ];
        await isAborted(
            "ABORTED (no-steady-state): there is no steady state: orders: namespace shop does not exist. Create " +
                "it, or name another one; see: kubectl get namespaces; toys: Secret demo/gone does not exist. Create " +
                "it, or correct the check; see: kubectl --namespace demo get secrets. Nothing was attacked. Nothing " +
                "is known about the application: correct the experiment or what it asks, then: pulumi up",
        );
    });

    it("if the reports cannot be written: a verdict would be lost", async () => {
        const { reports } = run.plan;
        run.plan.reports = join(reports, "file");
        writeFileSync(run.plan.reports, "");
        await expect(step()).rejects.toThrow(/the reports cannot be written to the folder \S+file: .* Nothing was/);
        run.plan.reports = reports;
        expect(leases()).toEqual([]);
    });

    it("if another stack holds the lease, which stays", async () => {
        await acquireLease(run.cluster.api, { stack: "theirs", plan: run.plan });
        await expect(step()).rejects.toThrow(
            /^ABORTED \(namespace-busy\): stack theirs .* Nothing was attacked\. .*kubectl --context .* delete lease/,
        );
        expect(leases()).toEqual([leaseName]);
        expect(keptJournals(run.plan.reports)).toMatchObject([{ conclusion: { verdict: "ABORTED" } }]);
    });
});

it("ABORTED because of the same stack's experiment of another name: the error says how to rename one", async () => {
    const earlier = { ...run.plan, experiment: "earlier" };
    await acquireLease(run.cluster.api, { stack: "dev/0123456789abcdef", plan: earlier });
    const context = { ...run.context, stack: "dev/fedcba9876543210" };
    const refused = settled(steadyState(context, {}));
    await expect(refused).rejects.toThrow(
        /ABORTED \(namespace-busy\): .* renamed earlier to hot-deals-blackhole: .*pulumi up\), which undoes earlier/,
    );
    await expect(refused).rejects.not.toThrow("delete lease");
});

it("ABORTED because of another stack of the same name, with the same experiment: nothing was renamed", async () => {
    await acquireLease(run.cluster.api, { stack: "dev/0123456789abcdef", plan: run.plan });
    const context = { ...run.context, stack: "dev/fedcba9876543210" };
    await expect(settled(steadyState(context, {}))).rejects.toThrow("delete lease");
});

describe("room for what the run makes is tried by a dry run of each, before anything is touched:", () => {
    const jobSpec = { template: { metadata: { labels: { app: "job" } }, spec: { serviceAccountName: "x-deadline" } } };
    const room: Room = {
        job: { kind: "Job", metadata: { name: "x-deadline" }, spec: jobSpec },
        attacks: [
            { kind: "Service", metadata: { name: "x-fault" }, spec: {} },
            { kind: "Pod", metadata: { name: "x-fault" }, spec: { serviceAccountName: "x-fault" } },
        ],
    };
    const begin = (changes: Partial<Room> = {}) => settled(steadyState(run.context, { room: { ...room, ...changes } }));
    const tried: [string, FakeRequest["body"]][] = [];
    let reject: (call: string, name: string) => void;
    beforeEach(() => {
        tried.length = 0;
        reject = () => undefined;
        run.cluster.intercept = (call, { body, dryRun }) => {
            // Whether the API server keeps all fields of a Job is tried under another name.
            if (!dryRun || body.metadata.generateName) return;
            tried.push([call, body]);
            reject(call, body.metadata.name);
        };
    });

    it("the Job, its pod, what lets that through, and a proxy with its Service; nothing of them is made", async () => {
        await begin();
        expect(tried.map(([call, { metadata }]) => [call, metadata.name]).sort()).toEqual([
            ["create Job", "x-deadline"],
            ["create NetworkPolicy", expect.stringMatching(/-job$/)],
            ["create Pod", "x-deadline-trial"],
            ["create Pod", "x-fault"],
            ["create Service", "x-fault"],
        ]);
        expect([run.cluster.names("NetworkPolicy"), run.cluster.names("Service")]).toEqual([[], []]);
    });

    it.each<[string, object, true | undefined]>([
        ["keeps", {}, true],
        ["leaves out, as before Kubernetes 1.31,", { successPolicy: undefined }, undefined],
        ["leaves out, as before Kubernetes 1.29,", { backoffLimitPerIndex: undefined }, undefined],
    ])("whether the API server %s what has the Job's pod replaced at once", async (_, left, expected) => {
        const spec = { ...jobSpec, backoffLimitPerIndex: 0, successPolicy: { rules: [] }, ...left };
        expect((await begin({ job: { ...room.job, spec } })).replacesAtOnce).toBe(expected);
    });

    it("what cannot be tried of how its pod is replaced is said, and taken for no", async () => {
        run.cluster.intercept = (call, { body, dryRun }) => {
            if (call === "create Job" && dryRun && body.metadata.generateName) throw new Error("socket hang up");
        };
        expect((await begin()).replacesAtOnce).toBeUndefined();
        expect(run.said).toContainEqual(expect.stringMatching(/Job's pod at once: .* minutes \(.*socket hang up\)$/));
    });

    it("the Job's pod has its Job as controller, which policies may want, and no account that is missing", async () => {
        await begin();
        const [, pod] = tried.find(([, { metadata }]) => metadata.name === "x-deadline-trial")!;
        expect(pod.metadata.ownerReferences).toMatchObject([{ kind: "Job", name: "x-deadline", controller: true }]);
        expect(pod.metadata.labels).toEqual({ app: "job", "batch.kubernetes.io/job-name": "x-deadline" });
        expect(pod.spec.serviceAccountName).toBeUndefined();
    });

    it.each([
        [
            "create Pod",
            403,
            'pods "x" is forbidden: exceeded quota: few',
            "pod of the Job x-deadline: .*; no Pod x-fault",
        ],
        ["create Pod", 403, 'pods "x" is forbidden: violates PodSecurity "restricted"', "pod of the Job x-deadline"],
        ["create Pod", 422, "Every pod needs the label team", "pod of the Job x-deadline"],
        ["create Service", 403, "exceeded quota: few, requested: services=1", "Service x-fault"],
        ["create Job", 403, "exceeded quota: few, requested: count/jobs.batch=1", "Job x-deadline"],
        ["create NetworkPolicy", 400, 'admission webhook "net" denied the request', "NetworkPolicy \\S+-job"],
    ])("%s rejected with %i (%s) is ABORTED in these words", async (rejected, status, words, what) => {
        reject = (call) => {
            if (call === rejected) refuse(status, words);
        };
        const told = new RegExp(`^ABORTED \\(no-room\\): namespace demo admits no ${what}: .*${words.slice(0, 20)}`);
        await expect(begin()).rejects.toThrow(told);
        expect(leases()).toEqual([]);
        expect(keptJournals(run.plan.reports)[0]!.conclusion).toMatchObject({ verdict: "ABORTED", code: "no-room" });
    });

    it("OpenShift's refusal of a user id is ABORTED, though it speaks of accounts, and says what to set", async () => {
        const words =
            'pods "x-deadline-trial" is forbidden: unable to validate against any security context constraint: ' +
            '[provider "anyuid": Forbidden: not usable by user or serviceaccount, provider restricted-v2: ' +
            ".spec.securityContext.fsGroup: Invalid value: []int64{1000}: 1000 is not an allowed group]";
        reject = (call) => {
            if (call === "create Pod") refuse(403, words);
        };
        run.plan.settings = undefined;
        await expect(begin()).rejects.toThrow(
            inOrder("ABORTED (no-room): ", "1000 is not an allowed group", "Nothing was", "pod.runAsUser: false"),
        );
        expect(leases()).toEqual([]);
    });

    it("a quota is tried for seconds: pods that a sweep has just deleted count in it", async () => {
        let tries = 0;
        reject = (call) => {
            if (call === "create Service" && tries++ < 3) refuse(403, "exceeded quota: few");
        };
        await begin();
        expect(tries).toBe(4);
    });

    const webhook = 'admission webhook "x" does not support dry run';
    const forbidden = 'pods is forbidden: User "ada" cannot create resource "pods"';
    const mayMakeNoPods = () => {
        run.cluster.rules = [{ apiGroups: ["*"], resources: ["*"], verbs: ["get"] }];
        run.cluster.access = ({ verb, resource, subresource }) => ({
            allowed: !(verb === "create" && resource === "pods" && subresource === undefined),
        });
    };

    it.each<[string, number, string, prepare?: () => void]>([
        ["that has the name by then: webhooks were asked before", 409, "already exists"],
        ["of which a webhook cannot do a dry run", 400, webhook],
        ["that the account may not make by itself", 403, forbidden, mayMakeNoPods],
    ])("a pod is not refused %s", async (_, status, words, prepare) => {
        prepare?.();
        reject = (call) => {
            if (call === "create Pod") refuse(status, words);
        };
        await expect(begin({ attacks: [] })).resolves.toBeDefined();
    });

    it("a pod is not refused for the default account, which only the trial has: the words are printed", async () => {
        reject = (call) => {
            if (call === "create Pod") refuse(403, "serviceAccount default may not be used");
        };
        await expect(begin()).resolves.toBeDefined();
        expect(run.said).toContainEqual(
            expect.stringMatching(/^A dry run does not show .* “serviceAccount default may/),
        );
    });
});

describe("a run begins whose actions may spare its targets:", () => {
    const rollout: Action = { kind: "rollout", deployment: "hot-deals" };
    const scale = (replicas: number): Action => ({ kind: "scale", deployment: "hot-deals", replicas });
    const ofStatefulSet = (pod: string) =>
        (run.cluster.get("Pod", pod).metadata.ownerReferences![0]!.kind = "StatefulSet");

    it.each<[string, Action, change?: () => void]>([
        ["more pods", scale(3)],
        ["one pod of two, where one is a target", scale(1)],
        ["a kill, which deletes them itself", rollout, () => (run.plan.attacks[0]!.attack = { kind: "kill" })],
        [
            "targets that may be another workload's",
            rollout,
            () => {
                run.plan.attacks[0]!.target = "k8s.namespace=demo";
                run.addPod("toys-1", "10.0.0.3");
                ofStatefulSet("toys-1");
            },
        ],
        [
            "pods of a StatefulSet below its partition",
            { kind: "rollout", statefulset: "set" },
            () => {
                ["hot-deals-1", "hot-deals-2"].forEach(ofStatefulSet);
                const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 1 } };
                run.cluster.add("StatefulSet", "set", { spec: { replicas: 2, updateStrategy } });
                run.plan.attacks[0]!.target = "k8s.statefulset=set,k8s.namespace=demo";
                run.plan.checks[0]!.check = { kind: "podsReady", of: "k8s.statefulset=set" };
            },
        ],
    ])("%s", async (_, action, change) => {
        change?.();
        run.plan.actions = [action];
        await expect(step()).resolves.toHaveProperty("runName");
    });
});

describe("a run does not begin", () => {
    it("without a target: the error lists what there is, and the lease is released", async () => {
        run.plan.attacks = [{ ...run.plan.attacks[0]!, target: "k8s.deployment=gone" }];
        await isAborted(/^ABORTED \(no-target\): no running container matches .*k8s\.deployment=hot-deals/s);
        expect(keptJournals(run.plan.reports)[0]!.conclusion).toMatchObject({ verdict: "ABORTED", code: "no-target" });
    });

    it("if no experiment attacks the pods that match: the error says why, and how many there are", async () => {
        for (const pod of ["hot-deals-1", "hot-deals-2"])
            run.cluster.get("Pod", pod).metadata.labels = { "chaos-experiments/protected": "true" };
        await expect(step()).rejects.toThrow(
            /^ABORTED \(no-target\): 2 containers match .*, but their pods are labeled chaos-exp.*\/protected=true, /,
        );
    });

    it("if it scales a Deployment that does not exist", async () => {
        run.plan.actions = [{ kind: "scale", deployment: "gone", replicas: 2 }];
        await isAborted(
            "ABORTED (action-refused): the experiment cannot scale gone to 2: namespace demo has no Deployment gone; " +
                "its Deployments are: hot-deals. Nothing was attacked.",
        );
        expect(keptJournals(run.plan.reports)[0]!.conclusion).toMatchObject({ verdict: "ABORTED" });
    });

    it.each<[Action, Radius["kind"]]>([
        [{ kind: "rollout", deployment: "hot-deals" }, "count"],
        [{ kind: "scale", deployment: "hot-deals", replicas: 0 }, "count"],
        [{ kind: "scale", deployment: "hot-deals", replicas: 1 }, "all"],
    ])("if an action takes a target from an attack that must last: %j of %s", async (action, kind) => {
        run.plan.actions = [{ kind: "wait", durationMs: 1 }, action];
        if (kind === "all") run.plan.attacks[0]!.radius = { kind };
        await isAborted(
            inOrder(
                "ABORTED (action-refused): the experiment cannot ",
                " of k8s.deployment=hot-deals as targets until",
            ),
        );
    });

    it.each<Action>([
        { kind: "rollout", deployment: "other" },
        { kind: "scale", deployment: "other", replicas: 3 },
        { kind: "scale", deployment: "other", replicas: 0 },
    ])("if an action changes which pods are the peers of an attack: %j", async (action) => {
        run.plan.attacks[0]!.attack = { kind: "blackhole", direction: "egress", peers: "k8s.deployment=other" };
        const owner = { kind: "Deployment", name: "other" };
        run.cluster.add("ReplicaSet", "other", { metadata: { uid: "other", ownerReferences: [owner] } });
        run.cluster.add("Deployment", "other", { spec: { replicas: 2 } });
        run.addPod("other-1", "10.0.0.7");
        run.cluster.get("Pod", "other-1").metadata.ownerReferences![0]!.uid = "other";
        run.plan.actions = [action];
        await isAborted(inOrder("ABORTED (action-refused): the experiment cannot ", "the peers k8s.deployment=other"));
    });

    it("if the cluster does not answer", async () => {
        run.cluster.intercept = () => {
            throw new Error("connect ECONNREFUSED");
        };
        await expect(step()).rejects.toThrow("ECONNREFUSED");
    });
});

it.each([
    ["no", () => ({ allowed: false })],
    ["nothing", () => ({ allowed: false, evaluationError: "the authorizer failed" })],
])("says nothing of Events if the API server says %s, and goes on", async (_, answer) => {
    run.cluster.access = ({ resource }) => (resource === "events" ? answer() : { allowed: true });
    expect(await step()).not.toHaveProperty("mayMakeEvents");
});
