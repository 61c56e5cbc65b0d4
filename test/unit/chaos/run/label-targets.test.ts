import { ApiError } from "../../../../chaos/cluster/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { endRuns } from "../../../../chaos/ending/end-run";
import { acquireLease, moveOwn } from "../../../../chaos/lease/lease";
import { leaseMoves, leaseName } from "../../../../chaos/lease/lease-record";
import type { Plan } from "../../../../chaos/definition/plan";
import type { Room } from "../../../../chaos/run/contract";
import { labelTargets } from "../../../../chaos/run/label-targets";
import { recovery } from "../../../../chaos/run/recovery";
import { keptJournals } from "../../../support/kept-journals";
import { refuse, type StoredObject } from "../support/fake-cluster";
import { FakeRun, job, pass } from "../support/fake-run";
import { settled } from "../support/time";
import { inOrder } from "../../../support/in-order";

let run: FakeRun;
beforeEach(async () => {
    run = new FakeRun();
    await acquireLease(run.cluster.api, { stack: "ours", plan: run.plan });
    run.cluster.get("Lease", leaseName).metadata.annotations!["chaos-experiments/run"] = "run";
});
afterEach(() => run.close());

const steadyState = { latencyMs: 5, runName: "run", pass, checks: [] };
const step = (room?: Room) => settled(labelTargets(run.context, { room, steadyState, deadlineJob: job }));
const labelOf = (pod: string) => run.cluster.get("Pod", pod).metadata.labels?.["chaos-experiments/target"];
const labels = () => ["hot-deals-1", "hot-deals-2"].map(labelOf).filter((label) => label !== undefined);
/** The step is ABORTED in these words, and nobody is labeled. */
const isAborted = async (words: string | RegExp, room?: Room) => {
    await expect(step(room)).rejects.toThrow(words);
    expect(labels()).toEqual([]);
};

it("takes the lease again as the steady state has named the run: its Job looks for that", async () => {
    const renewedAt = () => new Date(run.cluster.get("Lease", leaseName).spec.renewTime as string).getTime();
    const before = renewedAt();
    await vi.advanceTimersByTimeAsync(1_000);
    await step();
    expect(renewedAt()).toBeGreaterThan(before);
    const { annotations } = run.cluster.get("Lease", leaseName).metadata;
    expect(annotations).toMatchObject({ "chaos-experiments/run": "run" });
});

it("notes in the lease that the attacks may begin, once it cannot fail any more", async () => {
    const key = "chaos-experiments/not-begun";
    const notBegun = () => run.cluster.get("Lease", leaseName).metadata.annotations![key];
    run.cluster.get("Lease", leaseName).metadata.annotations![key] = "run";
    run.cluster.refuses("list NetworkPolicy", 500, "etcd is slow");
    await expect(step()).rejects.toThrow("etcd is slow");
    expect(notBegun()).toBe("run");
    run.cluster.intercept = () => undefined;
    await step();
    expect(notBegun()).toBeUndefined();
    // Another try of the step, after the attacks have begun.
    run.cluster.refuses("list NetworkPolicy", 500, "etcd is slow");
    await expect(step()).rejects.toThrow("etcd is slow");
    expect(notBegun()).toBeUndefined();
});

describe("a run that has ended does not begin again: its steady state is of before", () => {
    const notReady = () => ["hot-deals-1", "hot-deals-2"].forEach((pod) => run.setReady(pod, false));
    const undoing = () => settled(recovery(run.context, {}));
    const ending = () => settled(endRuns(run.cluster.api, { stack: "ours", defaultNamespace: "demo" }));
    const refused = () =>
        expect(step()).rejects.toThrow(
            inOrder(
                "ABORTED (run-over): the lease of namespace demo no longer names the run 1, which has ended. ",
                "Start another run: pulumi config set experiment.run '1 again'",
            ),
        );
    beforeEach(() => run.label());

    it("if the application did not recover: the next try to undo it fails for that no more", async () => {
        notReady();
        await moveOwn(run.cluster.api, run.context, () => leaseMoves.begun);
        await expect(undoing()).rejects.toThrow("did not recover");
        run.setReady("hot-deals-1", true);
        await refused();
        notReady();
        expect(await undoing()).toEqual({ recoveredAfterMs: null });
        expect(run.said.at(-1)).toContain("pods did not recover within 1 min");
    });

    it("if an update has ended it, and was killed before it was undone", async () => {
        await ending();
        run.cluster.add("Job", job);
        await refused();
    });

    it("if that was killed while it ended the attacks", async () => {
        run.cluster.refuses("list Pod", 500, "etcd is slow");
        await expect(ending()).rejects.toThrow("etcd is slow");
        run.cluster.intercept = () => undefined;
        await refused();
    });

    it("if another stack's run has had the namespace since, and has ended, too", async () => {
        run.cluster.remove("Lease", leaseName);
        await acquireLease(run.cluster.api, { stack: "theirs", plan: run.plan });
        await settled(endRuns(run.cluster.api, { stack: "theirs", defaultNamespace: "demo" }));
        await refused();
        expect(run.cluster.get("Lease", leaseName).spec.holderIdentity).toMatch(/^stack theirs /);
    });
});

it("labels as many pods as the radius allows, and returns them with the control", async () => {
    const { attacks, baselineMs } = await step();
    const [{ targets, matching }] = attacks as [(typeof attacks)[0]];
    expect(matching).toBe(2);
    expect(targets).toEqual([run.target(targets[0]!.pod)]);
    expect(labels()).toEqual(["hot-deals-blackhole.blackhole"]);
    expect(baselineMs).toBeTypeOf("number");
    expect(run.said).toEqual([`Targets: ${targets[0]!.pod}/hot-deals (1 container of 2 matching)`]);
});

it("returns what owns targets and peers, and the namespace's workloads except Jobs, for reports", async () => {
    const owned = [
        { kind: "StatefulSet", name: "db" },
        { kind: "Job", name: "backup-29384" },
    ];
    for (const [index, owner] of owned.entries()) {
        run.addPod(owner.name, `10.0.0.${index + 3}`);
        Object.assign(run.cluster.get("Pod", owner.name).metadata, {
            ownerReferences: [{ ...owner, controller: true }],
        });
    }
    run.plan.attacks[0]!.attack = { kind: "blackhole", peers: "k8s.statefulset=db,k8s.namespace=demo" };
    const { attacks, workloads } = await step();
    const [hotDeals, db] = ["k8s.deployment=hot-deals,k8s.namespace=demo", "k8s.statefulset=db,k8s.namespace=demo"];
    expect(attacks).toMatchObject([{ workloads: [hotDeals], peerWorkloads: [db] }]);
    expect(workloads).toEqual([hotDeals, db]);
});

it("unlabels what a killed update has labeled: together they could exceed the radius", async () => {
    await run.label("hot-deals-1", "earlier.blackhole");
    run.plan.attacks[0]!.target = "k8s.pod.name=hot-deals-2";
    await step();
    expect(labelOf("hot-deals-1")).toBeUndefined();
    expect(labelOf("hot-deals-2")).toBe("hot-deals-blackhole.blackhole");
});

it("labels them with another value each time: a network may know earlier targets for half a minute more", async () => {
    const values = new Set<string>();
    for (let tries = 0; tries < 3; tries++) {
        const { targets, chosenBy } = (await step()).attacks[0]!;
        expect(run.cluster.get("Pod", targets[0]!.pod).metadata.labels).toMatchObject({
            "chaos-experiments/chosen-by": chosenBy,
        });
        values.add(chosenBy!);
    }
    expect(values.size).toBe(3);
});

it("labels no pod outside of the plan's namespace, whatever an agent says of it", async () => {
    run.cluster.add("Pod", "payroll-1", {}, "payroll");
    const { uid } = run.cluster.get("Pod", "payroll-1", "payroll").metadata;
    const attributes = { "k8s.namespace": "demo", "k8s.deployment": "hot-deals" };
    const outside = { ...run.target(), namespace: "payroll", pod: "payroll-1", uid, ready: true, attributes };
    run.addAgent("demo-agent", [outside]);
    run.plan.agent = { namespace: "demo-agent", name: "agent" };
    await expect(step()).rejects.toThrow(
        "payroll-1 is in namespace payroll, and the experiment may only attack namespace demo. Nothing was attacked",
    );
    expect(run.cluster.get("Pod", "payroll-1", "payroll").metadata.labels).toBeUndefined();
    expect(labels()).toEqual([]);
});

it("labels nobody if one attack denies what another needs", async () => {
    const [blackhole] = run.plan.attacks as [Plan["attacks"][0]];
    const attack = { kind: "fault", service: "hot-deals", delay: "1s" } as const;
    run.plan.attacks = [blackhole, { ...blackhole, name: "fault", attack }];
    const selector = { app: "hot-deals" };
    for (const pod of ["hot-deals-1", "hot-deals-2"]) run.cluster.get("Pod", pod).metadata.labels = selector;
    run.cluster.add("Service", "hot-deals", { spec: { selector, ports: [{ port: 80, targetPort: 8080 }] } });
    await isAborted(/^ABORTED \(attack-refused\): blackhole would deny connections to hot-deals-\d/);
});

describe("evictions are tried before anybody is labeled:", () => {
    const budget = "The disruption budget hot-deals needs 2 healthy pods and has 2 currently.";
    const byBudget = {
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        details: { causes: [{ reason: "DisruptionBudget", message: budget }] },
    };
    const evictions = () => run.cluster.calls.filter((call) => call === "create Pod/eviction").length;
    const answerWith = (code: number, status: object, isRefused = (_pod?: string) => true) => {
        run.cluster.intercept = (call, { name, dryRun }) => {
            if (call !== "create Pod/eviction") return;
            expect(dryRun).toBe("All");
            if (isRefused(name)) throw new ApiError(code, JSON.stringify(status));
        };
    };
    beforeEach(() => {
        const attack = { kind: "kill", by: "eviction" } as const;
        const radius = { kind: "all" } as const;
        run.plan.attacks = [{ ...run.plan.attacks[0]!, name: "kill", radius, attack }];
    });

    it("a run of which a budget refuses all is ABORTED, in the budget's words", async () => {
        answerWith(429, byBudget);
        await isAborted(
            inOrder(
                "ABORTED (eviction-refused): the API server would not evict hot-deals-",
                ", hot-deals-",
                ": “Cannot evict pod as it would violate the pod's disruption budget. ",
                budget.slice(0, -1),
                " Nothing was attacked",
                "get poddisruptionbudgets",
            ),
        );
    });

    it.each<[string, number, object]>([
        ["two budgets select the pod", 500, { message: "This pod has more than one PodDisruptionBudget, which …" }],
        ["a webhook lets nobody", 403, { message: 'admission webhook "x" denied the request: not on Fridays' }],
    ])("so is one of which it refuses all since %s", async (_, code, status) => {
        answerWith(code, status);
        await expect(step()).rejects.toThrow("ABORTED (eviction-refused)");
    });

    it.each<[string, number, object, ((pod?: string) => boolean)?]>([
        ["one is admitted", 429, byBudget, (pod) => pod === "hot-deals-1"],
        ["the API server is busy", 429, { message: "too many requests" }],
        ["a webhook takes no dry runs", 400, { message: "admission webhook does not support dry run" }],
    ])("the run goes on if %s", async (_, code, status, isRefused) => {
        answerWith(code, status, isRefused);
        await step();
        expect(labels()).toHaveLength(2);
    });

    it("nothing is tried for a kill by deletion", async () => {
        run.plan.attacks[0]!.attack = { kind: "kill" };
        await step();
        expect(evictions()).toBe(0);
    });
});

describe("containers that are to be stopped", () => {
    beforeEach(() => {
        run.plan.attacks = [{ ...run.plan.attacks[0]!, name: "fail", attack: { kind: "fail" } }];
        for (const pod of ["hot-deals-1", "hot-deals-2"])
            run.cluster.get("Pod", pod).spec.containers[0].image = "shop:1";
    });

    it("are told to the Job, with the ports that must be closed then; the pods are as they were", async () => {
        const [{ targets, tried } = { targets: [] }] = (await step()).attacks;
        const { pod, uid, address } = targets[0]!;
        const endpoints = [`${address}:8080`];
        expect(tried).toEqual([{ pod, uid, container: "hot-deals", image: "shop:1", restarts: 0, endpoints }]);
        expect(run.cluster.get("Pod", pod).spec.containers[0].image).toBe("shop:1");
    });

    it("are reached by the witness before, also among policies of others", async () => {
        run.cluster.add("NetworkPolicy", "theirs", { spec: { podSelector: {}, ingress: [{}] } });
        await step();
        expect(run.cluster.names("NetworkPolicy")).toContain("run-admit-witness-1");
    });

    it("are no targets if nothing answers at their ports before", async () => {
        run.listensAt = () => false;
        await isAborted(/^ABORTED \(baseline-failed\): nothing answered at 10\.0\.0\.\d:8080/);
    });

    it("are the targets: others of the same pod are not said to be hit", async () => {
        run.plan.attacks[0]!.target = "k8s.container.name=hot-deals";
        for (const pod of ["hot-deals-1", "hot-deals-2"])
            run.cluster.get("Pod", pod).spec.containers.push({ name: "side", image: "side:1" });
        await step();
        expect(run.said.join()).not.toContain("side");
    });

    it("are refused if their images may not be changed, and nobody is labeled", async () => {
        run.cluster.intercept = (call, { dryRun }) => {
            if (call === "patch Pod" && dryRun) refuse(403, "denied the request: unknown registry");
        };
        await isAborted(
            /^ABORTED \(attack-refused\): the containers of hot-deals-\d may not be stopped: .*unknown registry/,
        );
    });
});

it("a kill in a zone gets the nodes of that zone, in which its Job chooses further pods", async () => {
    const labels = { "topology.kubernetes.io/zone": "a" };
    for (const node of ["node-1", "node-2"]) run.cluster.add("Node", node, { metadata: { labels } });
    run.cluster.add("Node", "node-3");
    run.cluster.get("Pod", "hot-deals-1").spec.nodeName = "node-1";
    const target = "k8s.zone=a,k8s.namespace=demo";
    run.plan.attacks = [{ ...run.plan.attacks[0]!, name: "kill", target, attack: { kind: "kill" } }];
    const { attacks } = await step();
    expect(attacks).toMatchObject([{ nodes: ["node-1", "node-2"], atFirst: 1, targets: [{ pod: "hot-deals-1" }] }]);
    expect(run.cluster.calls.filter((call) => call === "list Node")).toHaveLength(1);
});

it("labels nobody if a quota has no room left for a proxy, now that the Job's pod takes its part", async () => {
    run.cluster.intercept = (call, { dryRun }) => {
        if (dryRun && call === "create Pod") refuse(403, "exceeded quota: few, requested: pods=1");
    };
    const pod = { kind: "Pod", metadata: { name: "x-fault" }, spec: {} };
    await isAborted(
        /^ABORTED \(no-room\): namespace demo admits no Pod x-fault: .*exceeded quota: few, requested: pods=1/,
        { job: {}, attacks: [pod] },
    );
});

describe("a run that is ABORTED ends as a whole", () => {
    const jobs = () => run.cluster.names("Job");
    beforeEach(() => {
        run.cluster.get("Job", job).metadata.labels = { "chaos-experiments/experiment": run.plan.experiment };
    });

    const setStatusOfJob = (name: string, state: object) =>
        (run.cluster.get("Pod", job).status.containerStatuses = [{ name, state }]);
    const isNotPulled = () => {
        run.reporting = false;
        const message = 'Back-off pulling image "node:none"';
        setStatusOfJob("deadline", { waiting: { reason: "ImagePullBackOff", message } });
    };
    const crashes = () => {
        run.notesClosed = false;
        run.cluster.intercept = (call) =>
            void (call === "get Pod/log" && setStatusOfJob("deadline", { terminated: { exitCode: 139 } }));
    };
    const hasEnded = () =>
        (run.cluster.get("Job", job).status = { conditions: [{ type: "Complete", status: "True" }] });

    it.each<[string, () => void, code: string, words: string]>([
        [
            "its Job's image cannot be pulled",
            isNotPulled,
            "job-not-running",
            "has no running pod after 120 s: its status",
        ],
        ["its Job crashes once it has seen the targets", crashes, "job-not-running", "no running pod after"],
        ["its Job has ended it since an earlier try", hasEnded, "job-not-running", "at its deadline, has ended"],
        [
            "its Job is in another cluster, or deleted",
            () => run.cluster.remove("Job", job),
            "attack-refused",
            "no Job run-deadline that stays",
        ],
        [
            "what must fail under the attack does not work before",
            () => (run.probe = () => false),
            "baseline-failed",
            "a fresh connection out of the targets did not work before",
        ],
        [
            "no container matches any more",
            () => (run.plan.attacks[0]!.target = "k8s.deployment=gone"),
            "no-target",
            "no running container matches",
        ],
    ])("if %s: no Job, policy or label is left, and the lease says why", async (_, change, code, words) => {
        change();
        await expect(step()).rejects.toThrow(inOrder(`ABORTED (${code}): `, words, "Nothing was attacked"));
        expect([jobs(), run.cluster.names("NetworkPolicy"), labels()]).toEqual([[], [], []]);
        const { annotations } = run.cluster.get("Lease", leaseName).metadata;
        expect(annotations).not.toHaveProperty(["chaos-experiments/run"]);
        expect(JSON.parse(annotations!["chaos-experiments/ended"]!)).toMatchObject({ aborted: { code } });
        // If the step is tried again for itself, that is still the reason.
        await expect(step()).rejects.toThrow(
            new RegExp(`^ABORTED \\(${code}\\): run 1 was ABORTED before, as its lease says: .* Start another run: `),
        );
        await acquireLease(run.cluster.api, { stack: "theirs", plan: run.plan });
    });

    it("but not another stack's, which has the lease by now", async () => {
        run.cluster.remove("Lease", leaseName);
        await acquireLease(run.cluster.api, { stack: "theirs", plan: run.plan });
        await expect(step()).rejects.toThrow(/^ABORTED \(namespace-busy\): stack theirs/);
        expect([jobs(), run.cluster.names("Lease")]).toEqual([[job], [leaseName]]);
    });

    it("and stays as it is if the API server fails: the next update goes on", async () => {
        run.cluster.refuses("list NetworkPolicy", 500, "etcd is slow");
        await expect(step()).rejects.toThrow("etcd is slow");
        run.cluster.intercept = () => undefined;
        expect(await step()).toMatchObject({ attacks: [{ matching: 2 }] });
    });
});

describe("a target that declares ports at which nothing answers", () => {
    beforeEach(() => {
        run.plan.attacks[0]!.attack = { kind: "blackhole", direction: "ingress" };
        for (const pod of ["hot-deals-1", "hot-deals-2"])
            run.cluster.get("Pod", pod).spec.containers[0].ports.push({ containerPort: 9090 });
    });

    it("is proven by the others; which are left out is printed", async () => {
        run.listensAt = (port) => port === 8080;
        const { attacks } = await step();
        expect(attacks[0]!.leftOut).toEqual([expect.stringMatching(/^to 10\.0\.0\.\d:9090$/)]);
        expect(run.said.at(-1)).toMatch(/^Not part of the proof, .*: connections to 10\.0\.0\.\d:9090$/);
    });

    it("delays the run by seconds, also where other policies may have to let the witness through", async () => {
        run.cluster.add("NetworkPolicy", "theirs", { spec: { podSelector: { matchLabels: { app: "another" } } } });
        run.listensAt = (port) => port === 8080;
        const begun = performance.now();
        run.cluster.calls.length = 0;
        await step();
        expect(performance.now() - begun).toBeLessThan(4_000);
        expect(run.cluster.calls.length).toBeLessThan(120);
    });

    it("aborts the run if there are no others", async () => {
        run.listensAt = () => false;
        await isAborted(
            /^ABORTED \(baseline-failed\): nothing answered at [\d.]+:8080, [\d.]+:9090 of hot-deals-\d before/,
        );
    });
});

it("says what the positive control leaves out, since it does not work before the attack either", async () => {
    run.plan.attacks[0]!.attack = { kind: "blackhole", direction: "ingress" };
    run.probe = () => "no shell";
    const { attacks } = await step();
    expect(attacks[0]!.leftOut).toEqual([
        expect.stringMatching(/^from hot-deals-\d\/hot-deals to another pod at port \d+$/),
    ]);
    expect(run.said.at(-1)).toMatch(
        /^Not part of the proof, since .*: connections from hot-deals-\d\/hot-deals to another pod at port \d+$/,
    );
});

it.each([
    ["no port", {}, undefined],
    ["no port, of an attack on what comes in", { direction: "ingress" }, undefined],
    ["other ports than the attack blocks", { ports: [80] }, [{ containerPort: 8080 }]],
] as const)(
    "a target that declares %s aborts the run: PASSED would say of it what nobody tried",
    async (_, more, ports) => {
        Object.assign(run.plan.attacks[0]!, { radius: { kind: "all" }, attack: { kind: "blackhole", ...more } });
        run.cluster.get("Pod", "hot-deals-1").spec.containers[0].ports = [{ containerPort: 80 }];
        run.cluster.get("Pod", "hot-deals-2").spec.containers[0].ports = ports;
        await isAborted(
            /^ABORTED \(no-port\): the attack blackhole could not be proven: no container of hot-deals-2 declares/,
        );
    },
);

describe("a target whose container has no tool", () => {
    const without = (...containers: string[]) => {
        run.hasProgram = (container) => !containers.includes(container);
    };
    beforeEach(() => {
        run.plan.attacks[0]!.target = "k8s.pod.name=hot-deals-1,k8s.container.name=hot-deals";
        without("hot-deals");
    });

    it("aborts the run before the attack, with the choice that there is", async () => {
        await isAborted(
            inOrder(
                "ABORTED (no-tool): the attack blackhole could not be proven: no container of hot-deals-1 has a tool (",
                "Nothing was attacked. ",
                /: pulumi config set experiment\.outward unproven\nIf you change no setting: start another run: /,
                /pulumi config set experiment\.run '1 again'\nSee docs\/troubleshooting\.md#no-tool$/,
            ),
        );
        expect(keptJournals(run.plan.reports)[0]!.conclusion).toMatchObject({ verdict: "ABORTED", targets: [] });
    });

    it.each([
        ["a DNS lookup", { kind: "dns" }, /\(getent, python3, node\)\..*direction "ingress"\n/],
        ["only outgoing connections", { kind: "blackhole", direction: "egress" }, /\(bash, .*direction "ingress"\n/],
    ] as const)("aborts an attack on %s, which nothing else could prove", async (_, attack, error) => {
        run.plan.attacks[0]!.attack = attack;
        await expect(step()).rejects.toThrow(error);
    });

    it("is accepted if the experiment says so, and told", async () => {
        run.plan.attacks[0]!.outward = "unproven";
        const { attacks, baselineMs } = await step();
        expect(attacks[0]!.withoutTool).toEqual(["hot-deals-1"]);
        expect(baselineMs).toBeTypeOf("number");
        expect(run.said.at(-1)).toMatch(
            /^Outward cannot be proven, which the experiment accepts: no container of hot-deals-1 has a tool \(/,
        );
    });

    describe.each([
        [403, "pods 'hot-deals-1' is forbidden: no-exec", "refuses this (403)"],
        [422, "no-exec", "answered with status 422"],
        [400, 'admission webhook "x" denied the request', "status 400"],
        [500, 'failed calling webhook "x": timeout', "status 500"],
    ])("because the API server refuses it with %i (%s)", (status, words, answered) => {
        const quoted = `${answered}: “${words}”`;
        beforeEach(() => void (run.cluster.api.exec = async () => refuse(status, words)));

        it("aborts the run with the words of whoever refuses it, and the choice that there is", async () => {
            await isAborted(
                inOrder(
                    "ABORTED (exec-refused): the attack blackhole could not be proven: nothing may be run in",
                    quoted,
                    ": pulumi config set experiment.outward unproven\n",
                ),
            );
        });

        it("is accepted if the experiment says so, and told", async () => {
            run.plan.attacks[0]!.outward = "unproven";
            expect((await step()).attacks[0]!.withoutTool).toEqual(["hot-deals-1"]);
            const accepted = "experiment accepts: nothing may be run in hot-deals-1: the API server";
            expect(run.said.join("\n")).toMatch(inOrder(accepted, quoted));
        });
    });

    describe("because its node does not answer", () => {
        const problem = "dial tcp 10.0.0.9:10250: connect: connection refused";
        beforeEach(() => void Object.assign(run, { hasProgram: () => true, probe: () => problem }));

        it("aborts the run", async () => {
            const told = inOrder("ABORTED (probe-failed): ", "nothing can be run in", `: ${problem}`);
            await isAborted(told);
        });

        it("is accepted if the experiment says so", async () => {
            run.plan.attacks[0]!.outward = "unproven";
            expect((await step()).attacks[0]!.withoutTool).toEqual(["hot-deals-1"]);
            const accepted = `experiment accepts: nothing could be run in hot-deals-1: ${problem}`;
            expect(run.said.join("\n")).toContain(accepted);
        });
    });

    it("is not enough of a pod that declares no port either: nothing at all would be proven of it", async () => {
        run.plan.attacks[0]!.outward = "unproven";
        delete run.cluster.get("Pod", "hot-deals-1").spec.containers[0].ports;
        await isAborted(/^ABORTED \(no-port\): the attack blackhole could .* no container of hot-deals-1 declares/);
    });

    it("is proven by an interpreter of an image without a shell", async () => {
        run.hasProgram = (_, program) => program === "python3";
        expect((await step()).attacks[0]!.targets[0]!.prober).toEqual({ container: "hot-deals", program: "python3" });
    });

    it.each<[string, (pod: StoredObject) => void]>([
        ["another container", ({ spec }) => spec.containers.push({ name: "other" })],
        [
            "an ephemeral container that somebody has added",
            ({ status }) => (status.ephemeralContainerStatuses = [{ name: "other", state: { running: {} } }]),
        ],
    ])("is proven from within %s of its pod", async (_, add) => {
        add(run.cluster.get("Pod", "hot-deals-1"));
        const { attacks, baselineMs } = await step();
        expect(attacks[0]!.targets).toMatchObject([{ container: "hot-deals", prober: { container: "other" } }]);
        expect(attacks[0]).not.toHaveProperty("withoutTool");
        expect(baselineMs).toBeTypeOf("number");
        expect(run.said[0]).toBe(
            "Targets: hot-deals-1/hot-deals (1 container of 1 matching); in the same pods, and hit with them: " +
                "hot-deals-1/other",
        );
    });
});

it("labels nobody if the lease was deleted since the steady state: that stops the run", async () => {
    run.cluster.remove("Lease", leaseName);
    await expect(step()).rejects.toThrow(
        /^ABORTED \(run-over\): the lease of namespace demo was deleted, which ends the run 1\./,
    );
    expect([run.cluster.names("Lease"), labels()]).toEqual([[], []]);
});

it("takes from a target what it noted of an earlier attack: its Job would take this one for begun", async () => {
    for (const pod of ["hot-deals-1", "hot-deals-2"])
        run.cluster.get("Pod", pod).metadata.annotations = { "chaos-experiments/begun": "run" };
    const { targets } = (await step()).attacks[0]!;
    expect(run.cluster.get("Pod", targets[0]!.pod).metadata.annotations).not.toHaveProperty("chaos-experiments/begun");
});

describe("a namespace that does not admit the deadline Job's pod", () => {
    const message = 'Error creating: pods "run-deadline-x" is forbidden: exceeded quota: few, requested: pods=1.';
    beforeEach(() => {
        run.reporting = false;
        run.cluster.remove("Pod", job);
        run.cluster.add("Event", "rejected", { message });
    });

    it("is told within seconds, with the reason, and nobody is labeled", async () => {
        const begun = Date.now();
        await expect(step()).rejects.toThrow(
            /^ABORTED \(no-room\): namespace demo admits no pod of .* run-deadline, .*: an Event says “pods \S+ is/,
        );
        expect(Date.now() - begun).toBeLessThan(5_000);
        expect(labels()).toEqual([]);
    });

    it("is told later to an account that may not list events", async () => {
        run.cluster.refuses("list Event", 403, "events is forbidden");
        await expect(step()).rejects.toThrow(/has no running pod after 120 s/);
    });
});

it("returns a label that tells the peers from all pods of their namespace", async () => {
    run.plan.attacks[0]!.target = "k8s.pod.name=hot-deals-1";
    run.plan.attacks[0]!.attack = { kind: "blackhole", peers: "k8s.pod.name=hot-deals-2" };
    run.cluster.get("Pod", "hot-deals-2").metadata.labels = { app: "peer" };
    expect((await step()).attacks[0]!.peersLabel).toEqual({ key: "app", values: ["peer"] });
});

describe("a blackhole of addresses", () => {
    const host = { host: "api.example.com", port: 443 };
    const apiServer = { host: "kubernetes.default.svc", port: 443, addresses: ["10.96.0.1"] };
    const found: Record<string, string[]> = {
        "api.example.com": ["203.0.113.7"],
        "kubernetes.default.svc": ["10.96.0.1"],
    };
    const attack = (fields: object = {}) => {
        run.plan.attacks[0]!.attack = { kind: "blackhole", peers: host, ...fields };
    };
    beforeEach(() => {
        attack();
        run.plan.attacks[0]!.target = "k8s.pod.name=hot-deals-1";
        run.resolves = (_, name) => found[name] ?? [];
    });

    it("returns and prints the addresses of its hosts in the targets, and returns those of the control", async () => {
        const [chosen] = (await step()).attacks;
        expect(chosen).toMatchObject({ hosts: [{ ...host, addresses: ["203.0.113.7"] }], control: apiServer });
        expect(run.said).toContain("api.example.com is 203.0.113.7 in the targets");
    });

    it("has the addresses of all of its targets", async () => {
        run.plan.attacks[0]!.target = "k8s.deployment=hot-deals";
        run.plan.attacks[0]!.radius = { kind: "all" };
        run.resolves = (pod, name) => (name === host.host ? [`203.0.113.${pod.at(-1)}`] : []);
        const [chosen] = (await step()).attacks;
        expect(chosen!.hosts![0]!.addresses).toEqual(["203.0.113.1", "203.0.113.2"]);
        expect(chosen!.control).toBeUndefined();
        expect(run.said).toContain("No address outside of the cluster's pods is part of the positive control");
    });

    it("looks each name up once, at whichever ports it is denied", async () => {
        attack({ peers: [host, { ...host, port: 80 }] });
        const looked: string[] = [];
        run.resolves = (_, name) => {
            looked.push(name);
            return [`203.0.113.${looked.length}`];
        };
        const hosts = (await step()).attacks[0]!.hosts!;
        expect(hosts.map(({ port, addresses }) => [port, addresses])).toEqual([
            [443, ["203.0.113.1"]],
            [80, ["203.0.113.1"]],
        ]);
        expect(run.said).toContain("api.example.com is 203.0.113.1 in the targets");
    });

    it.each<[answering: string[], port: number]>([
        [["443", "80"], 443],
        [["80"], 80],
    ])("tries a host without a port where it answers, at the ports %j: %d", async (answering, port) => {
        attack({ peers: { host: host.host } });
        run.probe = (_, [address, at]) => address === "203.0.113.7" && answering.includes(at!);
        const [found] = (await step()).attacks[0]!.hosts!;
        expect(found).toEqual({ host: host.host, port, addresses: ["203.0.113.7"], allPorts: true });
    });

    it("is ABORTED if a host without a port answers at none of the usual ones, and nobody is labeled", async () => {
        attack({ peers: { host: host.host } });
        run.probe = (_, [, at]) => at === "5432";
        await isAborted(
            inOrder(
                "ABORTED (baseline-failed): nothing answered hot-deals-1 at api.example.com (203.0.113.7), ",
                "port 443 or 80, before the attack",
                'Name the port at which it answers: { host: "api.example.com", port: PORT }',
            ),
        );
    });

    it("does not take the API server for a control if it denies that", async () => {
        run.resolves = () => ["203.0.113.7"];
        expect((await step()).attacks[0]!.control).toBeUndefined();
    });

    it.each<[string, string[], RegExp]>([
        ["has no address", [], /finds no address for the name other\.example\.com/],
        ["is denied", ["203.0.113.9"], /the control other\.example\.com at port 80 is 203\.0\.113\.9 .* denies/],
    ])("is ABORTED if the control that it names %s", async (_, addresses, message) => {
        attack({ peers: [host, { cidr: "203.0.113.0/24" }], control: { host: "other.example.com", port: 80 } });
        run.resolves = (_, name) => (name === "other.example.com" ? addresses : found[name]!);
        await isAborted(message);
    });

    const isFound = (...addresses: string[]) => (run.resolves = () => addresses);
    const addService = (spec: object, status = {}) => run.cluster.add("Service", "db", { spec, status }, "data");
    const balanced = { loadBalancer: { ingress: [{ ip: "203.0.113.7", ipMode: "VIP" }] } };
    const inCluster = { clusterIP: "10.96.9.9", clusterIPs: ["10.96.9.9"], ports: [{ port: 443 }] };
    const addPods = () => {
        const status = { phase: "Running", podIPs: [{ ip: "10.0.1.1" }] };
        run.cluster.add("Pod", "on-node", { status, spec: { hostNetwork: true } }, "data");
        run.cluster.add("Pod", "db-0", { status, spec: {} }, "data");
    };
    const block = { cidr: "203.0.113.0/24" };

    it.each<[string, () => unknown, RegExp]>([
        ["no address", () => isFound(), /hot-deals-1 finds no address for the name api\.example\.com\. .* Look/],
        ["the address of a pod", () => isFound("10.0.0.2"), /is the pod hot-deals-2 .* Describe pods by/],
        ["an address of the target itself", () => isFound("127.0.0.1"), /which is the pod itself/],
        [
            "the address of a pod in another namespace",
            () => [isFound("10.0.1.1"), addPods()],
            /is the pod db-0 in namespace data/,
        ],
        [
            "the address of a Service",
            () => [attack({ peers: { host: "10.96.9.9", port: 443 } }), addService(inCluster)],
            /10\.96\.9\.9 is the Service db in namespace data, and networks differ/,
        ],
        [
            "that of its load balancer",
            () => addService(inCluster, balanced),
            /example\.com is the Service db in .*data, /,
        ],
        [
            "an external address of a Service",
            () => addService({ ...inCluster, externalIPs: ["203.0.113.7"] }),
            /api\.example\.com is the Service db in namespace data/,
        ],
        [
            "no address in a block at a port of the attack",
            () => {
                attack({ peers: [host, block, { host: "b.example", port: 80 }], ports: [80] });
                run.resolves = (_, name) => (name === "b.example" ? ["192.0.2.1"] : found[name]!);
            },
            /no host of the peers is in 203\.0\.113\.0\/24 at port 80/,
        ],
        [
            "no address in a block",
            () => attack({ peers: [host, { cidr: "192.0.2.0/24" }] }),
            /no host of the peers is in 192\.0\.2\.0\/24, .*: api\.example\.com is 203\.0\.113\.7 in the targets/,
        ],
    ])("is ABORTED if a host has %s, and nobody is labeled", async (_, change, message) => {
        change();
        await isAborted(inOrder("ABORTED (peers-unfit): ", message));
    });

    it.each(["Pod", "Service"])("goes on if the account may not look for a %s elsewhere", async (kind) => {
        run.cluster.intercept = (call, { fieldSelector }) => {
            const isOfHosts = kind === "Service" || fieldSelector;
            if (call === `list all ${kind}` && isOfHosts) refuse(403, "forbidden");
        };
        expect((await step()).attacks[0]!.hosts![0]!.addresses).toEqual(["203.0.113.7"]);
    });

    it.each<[string, number, object]>([
        ["to which nodes send connections, as it demands", 443, { ipMode: "Proxy" }],
        ["at a port that is not the Service's", 80, {}],
    ])("may deny a load balancer of the cluster %s", async (_, port, more) => {
        const status = { loadBalancer: { ingress: [{ ip: "203.0.113.7", ...more }] } };
        run.cluster.add("Service", "gateway", { spec: { clusterIP: "10.96.9.9", ports: [{ port }] }, status });
        expect((await step()).attacks[0]!.hosts![0]!.addresses).toEqual(["203.0.113.7"]);
    });

    it("may deny the addresses behind a headless Service", async () => {
        attack({ peers: { host: "payments.demo.svc", port: 443 } });
        run.resolves = () => ["203.0.113.9"];
        run.cluster.add("Service", "payments", { spec: { clusterIP: "None", clusterIPs: ["None"] } });
        expect((await step()).attacks[0]!.hosts![0]!.addresses).toEqual(["203.0.113.9"]);
    });

    it("is combined with the policies of its targets", async () => {
        const egress = [{ to: [{ ipBlock: { cidr: "203.0.113.0/24" } }] }];
        const spec = { podSelector: {}, policyTypes: ["Egress"], egress };
        run.cluster.add("NetworkPolicy", "theirs", { spec });
        await step();
        const { spec: combined } = run.cluster.get("NetworkPolicy", "run-blackhole-1");
        expect(combined.egress[0]).toEqual({
            to: [{ ipBlock: { cidr: "203.0.113.0/24", except: ["203.0.113.7/32"] } }],
        });
    });
});

it("lets the deadline Job through also without other policies: a default deny may come at any time", async () => {
    await step();
    expect(run.cluster.names("NetworkPolicy")).toEqual(["run-job"]);
    const { metadata, spec } = run.cluster.get("NetworkPolicy", "run-job");
    expect(spec).toMatchObject({ podSelector: { matchLabels: { "chaos-experiments/pass": pass } }, egress: [{}] });
    // It goes with the Job's rights, not with the Job: somebody may delete that while callers need a fault's proxy.
    const { uid } = run.cluster.get("RoleBinding", job).metadata;
    const owner = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", name: job, uid };
    expect(metadata.ownerReferences).toEqual([owner]);
});

it("does so also if it has done so before, and was killed", async () => {
    await step();
    const { uid } = run.cluster.get("NetworkPolicy", "run-job").metadata;
    run.cluster.add("NetworkPolicy", "theirs", { spec: { podSelector: {}, ingress: [{}] } });
    await step();
    const [owner] = run.cluster.get("NetworkPolicy", "run-admit-witness-1").metadata.ownerReferences!;
    expect(owner).toMatchObject({ kind: "NetworkPolicy", name: "run-job", uid });
});

describe("in a namespace with other NetworkPolicies", () => {
    const line = { key: "chaos-experiments/attacked", operator: "NotIn", values: [expect.any(String)] };
    const policy = (name: string) => run.cluster.get("NetworkPolicy", name);
    beforeEach(() => {
        const spec = { podSelector: {}, policyTypes: ["Ingress", "Egress"], ingress: [{}], egress: [{}] };
        run.cluster.add("NetworkPolicy", "theirs", { spec });
    });

    it("makes those let go of targets that allow what the attack denies, says so, and tells the check", async () => {
        run.plan.attacks[0]!.target = "k8s.pod.name=hot-deals-1";
        const allows = { ingress: expect.any(String), egress: expect.any(String) };
        const policies = [{ name: "theirs", podSelector: {}, allows }];
        const { ownPolicies, ...found } = await step();
        expect(found).toMatchObject({ isPoliced: true, policies });
        expect(policy("theirs").spec.podSelector).toEqual({ matchExpressions: [line] });
        expect(run.said.at(-1)).toMatch(/^NetworkPolicies that would allow .*: theirs$/);
        expect(run.cluster.names("NetworkPolicy")).toEqual(["theirs", "run-job", "run-admit-witness-1"]);
        expect(ownPolicies).toMatchObject([{ name: "run-admit-witness-1", adds: true, ways: ["ingress", "egress"] }]);
        const { uid } = policy("run-job").metadata;
        const owner = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", name: "run-job", uid };
        expect(policy("run-admit-witness-1").metadata.ownerReferences).toEqual([owner]);
        expect(run.cluster.get("Pod", "hot-deals-1").metadata.labels).toEqual({
            "chaos-experiments/target": "hot-deals-blackhole.blackhole",
            "chaos-experiments/chosen-by": expect.stringMatching(/^[0-9a-f]{16}$/),
        });
    });

    it("makes one let go that has a copied label of experiments, and none that an earlier run left", async () => {
        const of = { "chaos-experiments/experiment": "other" };
        policy("theirs").metadata.labels = of;
        const ownerReferences = [{ kind: "NetworkPolicy", name: "other-5678-job" }];
        const { spec } = structuredClone(policy("theirs"));
        const left = "other-5678-admit-witness-1";
        run.cluster.add("NetworkPolicy", left, { metadata: { labels: of, ownerReferences }, spec });
        expect((await step()).policies).toMatchObject([{ name: "theirs" }]);
        expect(policy("theirs").spec.podSelector).toEqual({ matchExpressions: [line] });
        expect(policy(left).spec.podSelector).toEqual({});
    });

    it("combines them with an attack that leaves some traffic, for exactly the targets", async () => {
        run.plan.attacks[0]!.target = "k8s.pod.name=hot-deals-1";
        run.plan.attacks[0]!.attack = { kind: "blackhole", direction: "ingress" };
        await step();
        const { metadata, spec } = policy("run-blackhole-1");
        // It goes with the Job's work, not with the Job: let go of by the others, the targets would be open then.
        const { uid } = policy("run-job").metadata;
        expect(metadata.ownerReferences).toMatchObject([{ kind: "NetworkPolicy", name: "run-job", uid }]);
        expect(spec).toMatchObject({ policyTypes: ["Ingress", "Egress"], egress: [{}, {}] });
        const { "chaos-experiments/attacked": attacked, ...others } = spec.podSelector.matchLabels;
        // Not before the others let go: the attack must not begin before the Job has seen its targets.
        expect(policy("theirs").spec.podSelector.matchExpressions).toEqual([{ ...line, values: [attacked] }]);
        expect(run.cluster.get("Pod", "hot-deals-1").metadata.labels).toEqual(others);
        expect(others).toHaveProperty(["chaos-experiments/combined"], "1");
    });

    it("changes nothing if the attack cannot be combined with them", async () => {
        run.plan.attacks[0]!.attack = { kind: "blackhole", direction: "ingress", ports: [8080] };
        policy("theirs").spec.ingress = [{ ports: [{ protocol: "UDP", port: "http" }] }];
        await expect(step()).rejects.toThrow(/^ABORTED \(attack-refused\): the NetworkPolicy theirs .* Nothing/);
        expect([labels(), policy("theirs").spec.podSelector]).toEqual([[], {}]);
    });

    describe("is ABORTED in the words of whoever rejects what it must change or make, and ends as a whole:", () => {
        const attacked = { kind: "blackhole", direction: "ingress" } as const;
        const webhook = 'admission webhook "guard" denied the request: ask the platform team';
        const quota = "exceeded quota: few, requested: count/networkpolicies.networking.k8s.io=1";
        const reject = (rejected: string, ofName: RegExp, words: string, code = 403) => {
            run.cluster.intercept = (call, { name, body, dryRun }) => {
                const isIt = call === rejected && !dryRun && ofName.test(name ?? body.metadata.name);
                // What was made or changed may be undone.
                if (isIt && JSON.stringify(body).includes("chaos-experiments/")) refuse(code, words);
            };
        };

        it.each<[string, string, RegExp, string, number, string]>([
            ["another's policy", "patch NetworkPolicy", /^theirs$/, webhook, 403, "attack-refused): Network"],
            ["the targets' labels", "patch Pod", /^hot-deals/, webhook, 400, "attack-refused): the targets"],
            ["what lets the Job through", "create NetworkPolicy", /-job$/, webhook, 422, "no-room): namespace"],
            ["what lets it to others", "create NetworkPolicy", /-admit-witness-1$/, quota, 403, "no-room): "],
            ["the combined policy", "create NetworkPolicy", /-blackhole-1$/, quota, 403, "no-room): "],
        ])("%s", async (_, call, ofName, words, status, told) => {
            run.plan.attacks[0]!.attack = attacked;
            const before = structuredClone(policy("theirs").spec);
            reject(call, ofName, words, status);
            await expect(step()).rejects.toThrow(inOrder(`ABORTED (${told}`, words, "Nothing was attacked. "));
            run.cluster.intercept = () => undefined;
            expect([run.cluster.names("NetworkPolicy"), labels(), policy("theirs").spec]).toEqual([
                ["theirs"],
                [],
                before,
            ]);
            expect(keptJournals(run.plan.reports)).toMatchObject([{ conclusion: { verdict: "ABORTED" } }]);
            await acquireLease(run.cluster.api, { stack: "theirs", plan: run.plan });
        });
    });

    it("restores them if it fails after that", async () => {
        run.reporting = false;
        run.plan.attacks[0]!.attack = { kind: "blackhole", direction: "ingress" };
        await expect(step()).rejects.toThrow(/runs, but has not reported what the run waits for after 120 s/);
        expect([run.cluster.names("NetworkPolicy"), policy("theirs").spec.podSelector]).toEqual([["theirs"], {}]);
    });
});
