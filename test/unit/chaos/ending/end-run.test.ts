import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { endIfLost, endRun, endRuns, noteConcluded } from "../../../../chaos/ending/end-run";
import { acquireLease, earlyEndOf, leaseName, releaseLease } from "../../../../chaos/lifecycle/lease";
import { runNameOf } from "../../../../chaos/definition/plan";
import { undo } from "../../../../chaos/steps/recovery";
import { refuse } from "../support/fake-cluster";
import { attackObject, FakeRun } from "../support/fake-run";
import { settled } from "../support/time";

const ours = { stack: "ours", defaultNamespace: "demo" };

let run: FakeRun;
const end = () => settled(endRuns(run.cluster.api, ours));
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
    it("needs only the cluster: attacks are gone before anything but the lease and the attacks is read", async () => {
        expect(await end()).toEqual([run.plan.experiment]);
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
        expect(run.cluster.calls.slice(0, 2)).toEqual(["listLeaseForAllNamespaces", "listNamespacedPod"]);
    });

    it("ends every attack that it can if one step is refused, and says which", async () => {
        run.cluster.add("Pod", "labeled", { metadata: { labels: { "chaos-experiments/target": "other.kill" } } });
        run.cluster.intercept = (call) => {
            if (call === "listNamespacedConfigMap") refuse(403, "configmaps is forbidden");
        };
        await expect(end()).rejects.toThrow("configmaps is forbidden");
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
        expect(run.cluster.get("Pod", "labeled").metadata.labels).toEqual({});
    });

    it("finds the run in the shop's namespace if the account may not list leases elsewhere", async () => {
        run.cluster.intercept = (call) => {
            if (call === "listLeaseForAllNamespaces") refuse(403, "leases is forbidden");
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
            if (/^(list|read)/.test(call) && call.includes("Lease")) refuse(403, "leases is forbidden");
        };
        expect(await end()).toEqual([]);
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
    const endWhatIsLeft = () => settled(endIfLost(run.cluster.api, run.context));
    beforeEach(async () => {
        await run.label();
        run.cluster.add("NetworkPolicy", object());
        await noteConcluded(run.cluster.api, run.context);
    });

    it("ends with its attack: a refresh makes the object again, and it must find no labeled pod", async () => {
        run.cluster.remove("NetworkPolicy", object());
        expect(await endWhatIsLeft()).toBe(true);
        expect(labels()).toEqual({});
        expect(earlyEndOf(lease())).toMatchObject({ recoveredAfterMs: expect.any(Number) });
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

describe("a plan that only a lease has", () => {
    /** Performs a check of the plan. @returns whether it has made a file, and the requests to a Service and a URL */
    async function performed(checkOf: (file: string, url: string) => object) {
        const file = join(run.plan.reports, "touched");
        const asked: string[] = [];
        const server = createServer(({ method, url }, response) => {
            asked.push(`${method} ${url}`);
            response.end();
        }).listen(0, "127.0.0.1");
        await once(server, "listening");
        const { port } = server.address() as AddressInfo;
        const status = { loadBalancer: { ingress: [{ ip: "127.0.0.1" }] } };
        run.cluster.add("Service", "web", { spec: { ports: [{ port }] }, status });
        const check = checkOf(file, `http://127.0.0.1:${port}`);
        const checks = [{ ...run.plan.checks[0]!, check }];
        lease().metadata.annotations!["chaos-experiments/plan"] = JSON.stringify({ ...run.plan, checks });
        expect(await end()).toEqual([run.plan.experiment]);
        await vi.advanceTimersByTimeAsync(5_000);
        server.close();
        return { hasRun: existsSync(file), asked: [...new Set(asked)] };
    }

    it("has its checks look at the application", async () => {
        const check = () => ({ kind: "http", path: "/health", service: "web" });
        expect((await performed(check)).asked).toContain("GET /health");
    });

    it.each<[string, Parameters<typeof performed>[0]]>([
        ["start a program", (file) => ({ kind: "command", command: ["touch", file] })],
        ["send a request to a URL", (_, url) => ({ kind: "http", path: "/", url })],
        ["change anything", () => ({ kind: "http", path: "/orders", service: "web", method: "POST" })],
        ["leave their Service", () => ({ kind: "http", path: "/../secrets", service: "web" })],
    ])("has no check %s: who may change leases may not do that", async (_, checkOf) => {
        expect(await performed(checkOf)).toEqual({ hasRun: false, asked: [] });
    });
});

describe("ending a stack's runs but one", () => {
    const endBut = (name: string) => settled(endRuns(run.cluster.api, ours, name));

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

    it.each(["patchNamespacedLease", "deleteNamespacedNetworkPolicy"])(
        "is left alone if another stack has taken it before %s, whose run goes on",
        async (call) => {
            before(call, takenByOthers);
            expect(await end()).toEqual([run.plan.experiment]);
            expect(run.cluster.names("NetworkPolicy")).toEqual([]);
            expect(lease().metadata.annotations).toMatchObject({ "chaos-experiments/run": "their-run" });
            expect(earlyEndOf(lease())).toBeUndefined();
        },
    );

    it.each(["patchNamespacedLease", "deleteNamespacedNetworkPolicy"])(
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

    it.each(["patchNamespacedLease", "deleteNamespacedNetworkPolicy"])(
        "has nothing to note if it is deleted before %s",
        async (call) => {
            before(call, () => run.cluster.remove("Lease", leaseName));
            expect(await end()).toEqual([run.plan.experiment]);
            expect(run.cluster.names("Lease")).toEqual([]);
        },
    );
});

describe("while the attacks of a run could not be ended", () => {
    const other = () => ({ stack: "another/aaaaaaaaaaaaaaaa", plan: { ...run.plan, experiment: "other" } });

    beforeEach(async () => {
        run.cluster.intercept = (call) => call === "deleteNamespacedNetworkPolicy" && refuse(500, "etcd is slow");
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
        expect(await settled(endRuns(run.cluster.api, ours, but))).toEqual([run.plan.experiment]);
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
    const undone = () => settled(undo(run.cluster.api, "ours", run.plan, run.context.say));

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
        const recoveredAfterMs = await settled(recovery);
        expect(recoveredAfterMs).toBeGreaterThanOrEqual(2_000);
        await vi.advanceTimersByTimeAsync(3_600_000);
        expect(await end()).toEqual([]);
        expect(run.cluster.names("Job")).toEqual([]);
        expect(await settled(undo(run.cluster.api, "ours", run.plan, run.context.say))).toEqual({
            at,
            recoveredAfterMs,
        });
    });

    it("leaves it to the Job too: the lease does not name the run, even if the attacks cannot be removed", async () => {
        run.cluster.intercept = (call) => {
            if (call === "listNamespacedNetworkPolicy") refuse(500, "etcd is slow");
        };
        await expect(endOne()).rejects.toThrow("etcd is slow");
        expect(lease().metadata.annotations).not.toHaveProperty(["chaos-experiments/run"]);
    });

    it("reads the lease once: own or another's, it is the same lease", async () => {
        await endOne();
        expect(run.cluster.calls.filter((call) => call === "readNamespacedLease")).toHaveLength(1);
    });

    it("tries nothing if the lease cannot be read: the attacks may be another stack's", async () => {
        run.cluster.intercept = (call) => {
            if (call === "readNamespacedLease") refuse(500, "etcd is slow");
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
        if (call !== "deleteNamespacedLease" || crossed) return;
        crossed = true;
        lease().metadata.resourceVersion = "noted";
    };
    await releaseLease(run.cluster.api, run.context);
    expect(run.cluster.names("Lease")).toEqual([]);
});
