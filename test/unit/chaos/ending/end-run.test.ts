import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { endRun, endRuns, isLost } from "../../../../chaos/ending/end-run";
import { acquireLease, moveOwn, releaseLease } from "../../../../chaos/lease/lease";
import { earlyEndOf, leaseMoves, leaseName } from "../../../../chaos/lease/lease-record";
import { type Plan, runNameOf } from "../../../../chaos/definition/plan";
import { undo } from "../../../../chaos/run/recovery";
import { refuse } from "../support/fake-cluster";
import { attackObject, FakeRun } from "../support/fake-run";
import { settled } from "../support/time";

const ours = { stack: "ours", defaultNamespace: "demo" };

let run: FakeRun;
const end = (planned: () => Plan | undefined = () => run.plan) => settled(endRuns(run.cluster.api, ours, { planned }));
const lease = () => run.cluster.get("Lease", leaseName);

beforeEach(async () => {
    run = new FakeRun();
    await acquireLease(run.cluster.api, run.context);
    run.attack();
    run.cluster.get("NetworkPolicy", attackObject).metadata.labels = {
        "chaos-experiments/experiment": run.plan.experiment,
    };
    run.cluster.calls.length = 0;
});
afterEach(() => run.close());

describe("ending a stack's runs", () => {
    it("needs only the cluster: it reads the leases first, and then what is left of their runs", async () => {
        expect(await end()).toEqual([run.plan.experiment]);
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
        expect(run.cluster.calls.slice(0, 2)).toEqual(["list all Lease", "list ConfigMap"]);
    });

    it("ends every attack that it can if one step is refused, and says which", async () => {
        run.cluster.add("Pod", "labeled", { metadata: { labels: { "chaos-experiments/target": "other.kill" } } });
        run.cluster.intercept = (call) => {
            if (call === "list ConfigMap") refuse(403, "configmaps is forbidden");
        };
        await expect(end()).rejects.toThrow("configmaps is forbidden");
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
        expect(run.cluster.get("Pod", "labeled").metadata.labels).toEqual({});
    });

    it("finds the run in the shop's namespace if the account may not list leases elsewhere", async () => {
        run.cluster.intercept = (call) => {
            if (call === "list all Lease") refuse(403, "leases is forbidden");
        };
        expect(await end()).toEqual([run.plan.experiment]);
    });

    it.each([
        ["another stack holds the lease", "stack theirs (its application is in demo)"],
        ["a stack of that name in another backend does", "stack ours/aaaaaaaaaaaaaaaa (its application is in demo)"],
    ])("changes nothing if %s", async (_what, holderIdentity) => {
        lease().spec.holderIdentity = holderIdentity;
        expect(await end()).toEqual([]);
        expect(run.cluster.names("NetworkPolicy")).toEqual([attackObject]);
    });

    it("changes nothing if the account may not get leases: it has run no experiment", async () => {
        run.cluster.intercept = (call) => {
            if (/^(list|get)/.test(call) && call.includes("Lease")) refuse(403, "leases is forbidden");
        };
        expect(await end()).toEqual([]);
    });

    it("says so if no lease can be read, since the API server answers as if there were no leases", async () => {
        run.cluster.intercept = (call) => {
            if (call === "list all Lease") refuse(404, "the server could not find the requested resource");
        };
        await expect(end()).rejects.toThrow("could not find the requested resource");
    });

    it("lets no deadline Job begin the run again: the lease names it no longer", async () => {
        expect(lease().metadata.annotations).toHaveProperty(["chaos-experiments/run"]);
        await end();
        expect(lease().metadata.annotations).not.toHaveProperty(["chaos-experiments/run"]);
        expect(earlyEndOf(lease())).toHaveProperty("at");
    });

    it("knows a run by the stack's identity, though stack and namespace have another name since", async () => {
        lease().spec.holderIdentity = "stack old/ours (its application is in demo-1)";
        expect(await end()).toEqual([run.plan.experiment]);
    });
});

it("a run that left nothing to end frees its namespace all the same, as one without an attack does", async () => {
    run.cluster.remove("NetworkPolicy", attackObject);
    const other = { stack: "another/aaaaaaaaaaaaaaaa", plan: { ...run.plan, experiment: "other" } };
    expect(await end()).toEqual([]);
    await acquireLease(run.cluster.api, other);
    expect(lease().spec.holderIdentity).toContain("another/aaaaaaaaaaaaaaaa");
});

describe("what is left of a run that has its verdict", () => {
    const labels = () => run.cluster.get("Pod", "hot-deals-1").metadata.labels;
    const object = () => `${runNameOf(run.plan, "ours")}-blackhole`;
    const parts = ["Job", "RoleBinding", "Role", "ServiceAccount", "ConfigMap"] as const;
    const job = () => `${runNameOf(run.plan, "ours")}-deadline`;
    const endWhatIsLeft = async () => {
        const { api } = run.cluster;
        const isOver = await isLost(api, run.context);
        if (isOver) await settled(endRun(api, run.context, { inBackground: true }));
        return isOver;
    };
    beforeEach(async () => {
        await run.label();
        run.cluster.add("NetworkPolicy", object());
        run.cluster.add("Job", job());
        run.cluster.addRightsOfJob(job());
        await moveOwn(run.cluster.api, run.context, () => leaseMoves.concluded);
    });

    it("ends with its attack: a refresh makes the object again, and it must find no labeled pod", async () => {
        run.cluster.remove("NetworkPolicy", object());
        expect(await endWhatIsLeft()).toBe(true);
        expect(labels()).toEqual({});
        expect(earlyEndOf(lease())).toMatchObject({ recoveredAfterMs: expect.any(Number) });
        expect(await endWhatIsLeft()).toBe(false);
    });

    it.each(parts)("ends if the %s of its deadline Job is gone: nothing else would end it in time", async (kind) => {
        run.cluster.remove(kind, job());
        expect(await endWhatIsLeft()).toBe(true);
        expect(labels()).toEqual({});
    });

    it.each([
        ["deadline Job is suspended", "Job", { spec: { suspend: true } }],
        ["deadline Job is complete", "Job", { status: { completionTime: "2026-01-01T00:00:00Z" } }],
        ["deadline Job has failed", "Job", { status: { conditions: [{ type: "Failed", status: "True" }] } }],
        ["Role gives no rights", "Role", {}],
        ["RoleBinding names another account", "RoleBinding", { subjects: [{ kind: "ServiceAccount", name: "x" }] }],
    ] as const)("ends if its %s", async (_, kind, state) => {
        run.cluster.add(kind, job(), state);
        expect(await endWhatIsLeft()).toBe(true);
    });

    it("stays if this account may not read what its deadline Job needs", async () => {
        run.cluster.intercept = (call) => {
            if (/^get (Role|RoleBinding|ServiceAccount|ConfigMap)$/.test(call)) refuse(403, "forbidden");
        };
        expect(await endWhatIsLeft()).toBe(false);
    });

    it("stays while the attack lasts", async () => {
        expect(await endWhatIsLeft()).toBe(false);
        expect(labels()).toHaveProperty(["chaos-experiments/target"]);
    });

    it.each<[string, () => unknown]>([
        ["a killed update goes on with a run", () => acquireLease(run.cluster.api, run.context)],
        ["another stack has the namespace", () => (lease().spec.holderIdentity = "stack theirs (its …)")],
    ])("is left alone if %s", async (_, change) => {
        await change();
        run.cluster.remove("NetworkPolicy", object());
        expect(await endWhatIsLeft()).toBe(false);
        expect(labels()).toHaveProperty(["chaos-experiments/target"]);
    });
});

describe("when the attacks have ended", () => {
    const asked: string[] = [];
    let url: string;
    beforeEach(async () => {
        asked.length = 0;
        const server = createServer((request, response) => response.end(String(asked.push(request.url!))));
        await once(server.listen(0, "127.0.0.1"), "listening");
        const { port } = server.address() as AddressInfo;
        url = `http://127.0.0.1:${port}`;
        for (const namespace of ["demo", "elsewhere"])
            run.cluster.add(
                "Service",
                "web",
                { spec: { ports: [{ port }] }, status: { loadBalancer: { ingress: [{ ip: "127.0.0.1" }] } } },
                namespace,
            );
        return () => server.close();
    });
    const asking = (check: object): Plan => ({
        ...run.plan,
        checks: [{ ...run.plan.checks[0]!, check: check as never }],
    });
    const health = () => asking({ kind: "http", path: "/health", url });
    /** Has another plan run than the fake one's, and ends it. @returns the paths that were asked */
    async function askedAfter(planned?: () => Plan | undefined): Promise<string[]> {
        expect(await end(planned)).toEqual([run.plan.experiment]);
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
        await vi.advanceTimersByTimeAsync(5_000);
        return [...new Set(asked)];
    }

    it("the checks of the program's plan look at the application, if that is the run's", async () => {
        const plan = health();
        await acquireLease(run.cluster.api, { stack: "ours", plan });
        expect(await askedAfter(() => plan)).toEqual(["/health"]);
        expect(earlyEndOf(lease())).toHaveProperty("recoveredAfterMs");
    });

    it.each<[string, () => Plan | undefined]>([
        ["the program has another plan by now", health],
        ["the program has no plan", () => undefined],
        [
            "the program's plan has a mistake",
            () => {
                throw new Error("deadline: is missing");
            },
        ],
    ])("nothing is asked if %s, and the last step waits for the recovery", async (_, planned) => {
        expect(await askedAfter(planned)).toEqual([]);
        expect(Object.keys(earlyEndOf(lease())!)).toEqual(["at"]);
    });

    it.each([
        { kind: "http", path: "/", service: "web", namespace: "elsewhere" },
        { kind: "http", path: "/", service: "web" },
        { kind: "command", command: ["touch", "made"] },
    ])("nothing is asked that only a lease says: who may change it chooses no requests (%j)", async (check) => {
        const plan = asking(check);
        Object.assign(lease().metadata.annotations!, {
            "chaos-experiments/plan": JSON.stringify(plan),
            "chaos-experiments/run": runNameOf(plan, "ours"),
        });
        expect(await askedAfter()).toEqual([]);
        expect(existsSync("made")).toBe(false);
    });

    it("nothing is asked for a lease of another namespace that names the run", async () => {
        const plan = health();
        await acquireLease(run.cluster.api, { stack: "ours", plan });
        const { metadata, spec } = structuredClone(lease());
        run.cluster.remove("Lease", leaseName);
        run.cluster.add("Lease", leaseName, { metadata: { annotations: metadata.annotations }, spec }, "elsewhere");
        const labels = { "chaos-experiments/experiment": run.plan.experiment };
        run.cluster.add("NetworkPolicy", "copied", { metadata: { labels } }, "elsewhere");
        expect(await end(() => plan)).toEqual([run.plan.experiment]);
        await vi.advanceTimersByTimeAsync(5_000);
        expect(asked).toEqual([]);
    });
});

describe("a lease that somebody has made or changed", () => {
    const holderIdentity = "stack ours (its application is in demo)";
    const times = { renewTime: "2026-11-21T10:00:00Z", leaseDurationSeconds: 60 };

    it.each<[string, object]>([
        ["has nothing", {}],
        ["has no times", { spec: { holderIdentity } }],
        ["names no experiment", { spec: { holderIdentity, ...times } }],
        [
            "names something that is no experiment",
            {
                metadata: { annotations: { "chaos-experiments/experiment": "a)||!b", "chaos-experiments/run": "x" } },
                spec: { holderIdentity, ...times },
            },
        ],
    ])("and %s keeps no other run from being ended", async (_, content) => {
        run.cluster.add("Lease", leaseName, content, "elsewhere");
        expect(await end()).toEqual([run.plan.experiment]);
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
    });

    it.each(["", "no JSON", "null", "{}", '{"at":"soon"}', '{"at":1e300}', '{"at":-1}'])(
        "and says of the end %j is not ended: it is ended, and the note corrected",
        async (note) => {
            lease().metadata.annotations!["chaos-experiments/ended"] = note;
            expect(await end()).toEqual([run.plan.experiment]);
            expect(run.cluster.names("NetworkPolicy")).toEqual([]);
            expect(earlyEndOf(lease())).toHaveProperty("at");
        },
    );

    it("and says no time of the recovery has not recovered: the last step waits for that", async () => {
        lease().metadata.annotations!["chaos-experiments/ended"] = '{"at":5,"recoveredAfterMs":"0"}';
        expect(earlyEndOf(lease())).toEqual({ at: 5 });
    });
});

describe("ending a stack's runs but one", () => {
    const endBut = (name: string) => settled(endRuns(run.cluster.api, ours, { but: name }));

    it("ends the run of an earlier plan: the application's pods could not become ready under it", async () => {
        expect(await endBut("run-of-a-later-plan")).toEqual([run.plan.experiment]);
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
    });

    it("lets that run go on, which the update does not begin again", async () => {
        expect(await endBut(runNameOf(run.plan, "ours"))).toEqual([]);
        expect(run.cluster.names("NetworkPolicy")).toEqual([attackObject]);
    });

    it("leaves the Job of a run alone that an abort rule has ended: its resources are still the stack's", async () => {
        run.cluster.add("Job", "run-deadline", {
            metadata: { labels: { "chaos-experiments/experiment": run.plan.experiment } },
        });
        await settled(endRun(run.cluster.api, run.context));
        expect(await endBut("run-of-a-later-plan")).toEqual([]);
        expect(run.cluster.names("Job")).toEqual(["run-deadline"]);
    });
});

it("another experiment may begin in the namespace once a run was ended: it is disabled", async () => {
    const other = { stack: "another/aaaaaaaaaaaaaaaa", plan: { ...run.plan, experiment: "other" } };
    await expect(acquireLease(run.cluster.api, other)).rejects.toThrow("runs hot-deals-blackhole in namespace demo");
    await end();
    await acquireLease(run.cluster.api, other);
    expect(lease().spec.holderIdentity).toContain("another/aaaaaaaaaaaaaaaa");
});

describe("a lease that somebody changes while attacks end", () => {
    /** Does something to the lease once, before a call of the ending. */
    function before(which: string, doIt: () => void): void {
        let isDone = false;
        run.cluster.intercept = (call) => {
            if (call !== which || isDone) return;
            isDone = true;
            doIt();
        };
    }
    function takenByOthers(): void {
        lease().spec.holderIdentity = "stack theirs (its application is in demo)";
        lease().metadata.annotations!["chaos-experiments/run"] = "their-run";
        lease().metadata.resourceVersion = "taken";
    }

    it.each(["patch Lease", "delete NetworkPolicy"])(
        "is left alone if another stack has taken it before %s, whose run goes on",
        async (call) => {
            before(call, takenByOthers);
            expect(await end()).toEqual([run.plan.experiment]);
            expect(run.cluster.names("NetworkPolicy")).toEqual([]);
            expect(lease().metadata.annotations).toMatchObject({ "chaos-experiments/run": "their-run" });
            expect(earlyEndOf(lease())).toBeUndefined();
        },
    );

    it.each(["patch Lease", "delete NetworkPolicy"])(
        "is noted all the same if it is still the run's, with what somebody has written before %s",
        async (call) => {
            before(call, () => {
                lease().metadata.annotations!["somebody/note"] = "look";
                lease().metadata.resourceVersion = "annotated";
            });
            await end();
            expect(lease().metadata.annotations).toMatchObject({ "somebody/note": "look" });
            expect(lease().metadata.annotations).not.toHaveProperty(["chaos-experiments/run"]);
            expect(earlyEndOf(lease())).toHaveProperty("at");
        },
    );

    it.each(["patch Lease", "delete NetworkPolicy"])("has nothing to note if it is deleted before %s", async (call) => {
        before(call, () => run.cluster.remove("Lease", leaseName));
        expect(await end()).toEqual([run.plan.experiment]);
        expect(run.cluster.names("Lease")).toEqual([]);
    });
});

describe("while the attacks of a run could not be ended", () => {
    const other = () => ({ stack: "another/aaaaaaaaaaaaaaaa", plan: { ...run.plan, experiment: "other" } });

    beforeEach(async () => {
        run.cluster.intercept = (call) => call === "delete NetworkPolicy" && refuse(500, "etcd is slow");
        await expect(end()).rejects.toThrow("etcd is slow");
        run.cluster.intercept = () => undefined;
    });

    it("its Job ends them, and no other experiment may begin in the namespace", async () => {
        expect(lease().metadata.annotations).not.toHaveProperty(["chaos-experiments/run"]);
        expect(earlyEndOf(lease())).toBeUndefined();
        await expect(acquireLease(run.cluster.api, other())).rejects.toThrow("runs hot-deals-blackhole");
    });

    it.each([
        ["that disables it", undefined],
        ["that enables another plan", "another-run"],
    ])("the next update %s tries again, and says that it ended them", async (_what, but) => {
        expect(await settled(endRuns(run.cluster.api, ours, { but }))).toEqual([run.plan.experiment]);
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
        await acquireLease(run.cluster.api, other());
    });
});

it("a recovery that is seen late is not noted in the lease of the run that has begun since", async () => {
    run.setReady("hot-deals-1", false);
    run.setReady("hot-deals-2", false);
    await end();
    await acquireLease(run.cluster.api, { stack: "another", plan: { ...run.plan, experiment: "other" } });
    const begun = structuredClone(lease().metadata.annotations);
    ["hot-deals-1", "hot-deals-2"].forEach((pod) => run.setReady(pod, true));
    await vi.advanceTimersByTimeAsync(9_000);
    expect(lease().metadata.annotations).toEqual(begun);
});

describe("the recovery of a run that was ended before its resources", () => {
    const undone = () => settled(undo(run.context));

    it("counts from the end of the attacks, however much later the resources are deleted", async () => {
        run.setReady("hot-deals-1", false);
        run.setReady("hot-deals-2", false);
        const begun = Date.now();
        run.after(2_000, () => ["hot-deals-1", "hot-deals-2"].forEach((pod) => run.setReady(pod, true)));
        await end();
        await vi.advanceTimersByTimeAsync(8_000);
        const { at, recoveredAfterMs } = await undone();
        expect(at - begun).toBeLessThan(100);
        expect(recoveredAfterMs).toBeGreaterThanOrEqual(2_000);
        expect(recoveredAfterMs).toBeLessThan(3_000);
        expect(run.cluster.names("Lease")).toEqual([]);
    });

    it("is awaited by the last step if the application needs longer than the update", async () => {
        run.setReady("hot-deals-1", false);
        run.setReady("hot-deals-2", false);
        await end();
        run.after(20_000, () => ["hot-deals-1", "hot-deals-2"].forEach((pod) => run.setReady(pod, true)));
        await vi.advanceTimersByTimeAsync(15_000);
        expect(earlyEndOf(lease())).not.toHaveProperty("recoveredAfterMs");
        expect((await undone()).recoveredAfterMs).toBeGreaterThanOrEqual(20_000);
    });
});

describe("ending one run during its update", () => {
    beforeEach(() => {
        const labels = { "chaos-experiments/experiment": run.plan.experiment };
        run.cluster.add("Job", "run-deadline", { metadata: { labels } });
    });
    const endOne = () => settled(endRun(run.cluster.api, run.context));

    it("removes the attacks and the labels; the Job stays, and may not begin the run again", async () => {
        await run.label();
        await endOne();
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
        expect(run.cluster.get("Pod", "hot-deals-1").metadata.labels).toEqual({});
        expect(run.cluster.names("Job")).toEqual(["run-deadline"]);
        expect(lease().metadata.annotations).not.toHaveProperty(["chaos-experiments/run"]);
    });

    it("sees the recovery, which the update that removes the run neither measures nor announces again", async () => {
        ["hot-deals-1", "hot-deals-2"].forEach((pod) => run.setReady(pod, false));
        run.after(2_000, () => run.setReady("hot-deals-1", true));
        const { at, recovery } = await endOne();
        const recovered = (await settled(recovery))!;
        expect(recovered.recoveredAfterMs).toBeGreaterThanOrEqual(2_000);
        const goods = recovered.checks[0]!.answers.map(({ good }) => good);
        expect([goods[0], goods.slice(-3)]).toEqual([false, [true, true, true]]);
        await vi.advanceTimersByTimeAsync(3_600_000);
        expect(await end()).toEqual([]);
        expect(run.cluster.names("Job")).toEqual([]);
        expect(await settled(undo(run.context))).toEqual({
            at,
            ...recovered,
        });
    });

    it("leaves it to the Job too: the lease does not name the run, even if the attacks cannot be removed", async () => {
        run.cluster.intercept = (call) => {
            if (call === "list NetworkPolicy") refuse(500, "etcd is slow");
        };
        await expect(endOne()).rejects.toThrow("etcd is slow");
        expect(lease().metadata.annotations).not.toHaveProperty(["chaos-experiments/run"]);
    });

    it("reads the lease once: own or another's, it is the same lease", async () => {
        await endOne();
        expect(run.cluster.calls.filter((call) => call === "get Lease")).toHaveLength(1);
    });

    it("tries nothing if the lease cannot be read: the attacks may be another stack's", async () => {
        run.cluster.intercept = (call) => {
            if (call === "get Lease") refuse(500, "etcd is slow");
        };
        await expect(endOne()).rejects.toThrow("etcd is slow");
        expect(run.cluster.names("NetworkPolicy")).toEqual([attackObject]);
    });

    it("changes nothing of another stack's run, which has begun after this one had ended", async () => {
        lease().spec.holderIdentity = "stack theirs (its application is in demo)";
        await endOne();
        expect(run.cluster.names("NetworkPolicy")).toEqual([attackObject]);
        expect(lease().metadata.annotations).toHaveProperty(["chaos-experiments/run"]);
    });
});

it("the lease is released even if a note changes it meanwhile", async () => {
    let crossed = false;
    run.cluster.intercept = (call) => {
        if (call !== "delete Lease" || crossed) return;
        crossed = true;
        lease().metadata.resourceVersion = "noted";
    };
    await releaseLease(run.cluster.api, run.context);
    expect(run.cluster.names("Lease")).toEqual([]);
});
