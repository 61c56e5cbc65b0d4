import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LoadAction } from "../../../../chaos/kinds/actions/load/load-action";
import { bucketOf, type SecondLine } from "../../../../chaos/kinds/actions/load/sender/second-line";
import { besides } from "../../../../chaos/kinds/actions/registry";
import { isRequired } from "../../../../chaos/cluster/resources";
import { labels as keys } from "../../../../chaos/cluster/labels";
import { runNameOf } from "../../../../chaos/definition/plan";
import { endAttacks } from "../../../../chaos/ending/end";
import { endRun } from "../../../../chaos/ending/end-run";
import { attacksLeftOf, leftOf } from "../../../../chaos/ending/left";
import { jobNameOf } from "../../../../chaos/pods/job-name";
import { acquireLease } from "../../../../chaos/lease/lease";
import { beginBeside } from "../../../../chaos/run/beside";
import { check } from "../../../../chaos/run/check";
import { nothingAttacked, type Room } from "../../../../chaos/run/contract";
import { steadyState } from "../../../../chaos/run/steady-state";
import { permissionsOf } from "../../../../chaos/rights/permissions";
import { keptJournals } from "../../../support/kept-journals";
import { refuse } from "../support/fake-cluster";
import { limit } from "../support/fake-rbac";
import { FakeRun, job, pass } from "../support/fake-run";
import { settled } from "../support/time";

const load: LoadAction = { kind: "load", name: "visitors", service: "web", path: "/", perSecond: 10 };

let run: FakeRun;
/** What the pod's program does in a second. */
let does: (second: number) => Partial<SecondLine>;
/** The pods whose program writes no more. */
let silent: Set<string>;

beforeEach(() => {
    run = new FakeRun();
    run.plan.attacks = [];
    run.plan.actions = [load];
    run.plan.window = { graceMs: 0, durationMs: 8_000 };
    run.cluster.add("Service", "web", { spec: { clusterIP: "10.96.0.9", ports: [{ port: 80 }] } });
    does = () => ({});
    silent = new Set();
    setInterval(() => run.cluster.names("Pod").filter(isLoad).forEach(write), 1_000);
});
afterEach(() => run.close());

const isLoad = (name: string) => name.endsWith("-load");
const begun = new Map<string, number>();
function write(name: string): void {
    const { metadata } = run.cluster.get("Pod", name);
    if (silent.has(name) || metadata.labels?.[keys.beside] === undefined) return;
    const first = begun.get(metadata.uid!) ?? Date.now();
    begun.set(metadata.uid!, first);
    const second = Math.round((Date.now() - first) / 1_000);
    const line: SecondLine = {
        ...{ second, at: first + (second - 1) * 1_000, written: Date.now(), due: 10, sent: 10, busy: 0, good: 10 },
        unsent: {},
        ...{ bad: {}, unseen: 0, within: [], latencies: [[bucketOf(20), 10]] },
        ...does(second),
    };
    run.cluster.logs.set(name, `${run.cluster.logs.get(name) ?? ""}${JSON.stringify(line)}\n`);
}

const found = () => ({ latencyMs: 5, runName: runNameOf(run.plan, "ours"), pass, checks: [] });
const roomOf = (): Room => {
    const [{ action, beside, part }] = besides(run.plan.actions) as [ReturnType<typeof besides>[number]];
    const metadata = {
        name: `${found().runName}-load`,
        labels: { [keys.experiment]: run.plan.experiment, [keys.beside]: part },
    };
    const spec = beside.podSpec(action, { image: "node:22", programs: { sender: "" }, lastsSeconds: 900 });
    return { attacks: [], besides: [{ kind: "Pod", metadata, spec }] };
};
const podName = () => `${found().runName}-load`;
const loadPods = () => run.cluster.names("Pod").filter(isLoad);
/** What Pulumi makes before the step. Another plan is another run. */
async function prepare(): Promise<void> {
    await acquireLease(run.cluster.api, { stack: "ours", plan: run.plan });
    run.cluster.addRightsOfJob(jobNameOf(found().runName));
    run.cluster.add("Job", jobNameOf(found().runName));
}
const begin = () => settled(beginBeside(run.context, { steadyState: found(), room: roomOf(), deadlineJob: job }));
const observe = async () => {
    const accompanied = await begin();
    const given = { steadyState: found(), ...nothingAttacked, deadlineJob: job, accompanied };
    return settled(check(run.context, given));
};
const journal = () => keptJournals(run.plan.reports)[0]!;

describe("before anything is made", () => {
    const step = () => settled(steadyState(run.context, { room: roomOf() }));

    it("a load that could not be sent is refused", async () => {
        run.cluster.remove("Service", "web");
        await expect(step()).rejects.toThrow(/ABORTED \(action-refused\): .* Service demo\/web: there is none/);
        expect(run.cluster.names("Lease")).toEqual([]);
    });

    it("the namespace must have room for its pod", async () => {
        run.cluster.intercept = (call, { body }) => {
            if (call === "create Pod" && isLoad(body.metadata.name)) refuse(403, "exceeded quota: small");
        };
        await expect(step()).rejects.toThrow(/ABORTED \(no-room\): .*exceeded quota: small/);
    });

    it("must not be in a protected namespace", async () => {
        run.cluster.add("Namespace", "demo", { metadata: { labels: { "chaos-experiments/protected": "true" } } });
        await expect(step()).rejects.toThrow(/ABORTED \(action-refused\): .*protected/);
    });

    it("nothing is measured that is compared with answers under the load", async () => {
        run.plan.baseline = { durationMs: 4_000 };
        expect(await step()).not.toHaveProperty("baseline");
    });
});

describe("the step that begins a load", () => {
    beforeEach(prepare);

    it("sends it once the Job runs that ends it, and waits until it is delivered", async () => {
        await begin();
        const { metadata, spec } = run.cluster.get("Pod", podName());
        expect(metadata.labels).toMatchObject({ [keys.experiment]: run.plan.experiment, [keys.pass]: pass });
        // It goes with the policy that the Job deletes last.
        const policy = run.cluster.get("NetworkPolicy", `${found().runName}-job`);
        expect(metadata.ownerReferences).toMatchObject([{ kind: "NetworkPolicy", uid: policy.metadata.uid }]);
        expect(spec.containers[0].env[0].value).toContain("http://10.96.0.9");
        expect(run.said.join("\n")).toContain("100% of 50 requests of visitors were sent on time");
    });

    it("sends nothing if the Job does not run", async () => {
        run.cluster.get("Pod", job).status = { phase: "Pending" };
        await expect(begin()).rejects.toThrow("has no running pod");
        expect(loadPods()).toEqual([]);
    });

    it("sends nothing if the run has ended meanwhile", async () => {
        run.cluster.remove("Lease", "chaos-experiment");
        await expect(begin()).rejects.toThrow(/ABORTED \(run-over\)/);
        expect(loadPods()).toEqual([]);
    });

    it("is repeated after it was killed: it begins a load that is not half over", async () => {
        await begin();
        const { uid } = run.cluster.get("Pod", podName()).metadata;
        await begin();
        expect(run.cluster.get("Pod", podName()).metadata.uid).not.toBe(uid);
    });

    it.each<[string, string, () => unknown, RegExp]>([
        [
            "is not delivered",
            "load-not-delivered",
            () => (does = () => ({ sent: 9, busy: 1, good: 9 })),
            /90% of 50 requests of visitors .* \(required: 98%\)\. Nothing was attacked\. Allow more `connections`/,
        ],
        [
            "cannot be sent from its pod",
            "load-not-delivered",
            () => (does = () => ({ sent: 0, unsent: { ENOTFOUND: 10 }, good: 0 })),
            /50 were not, since its pod could not connect \(ENOTFOUND\) .* Correct the load's `url`/,
        ],
        [
            "has ended by an error",
            "load-not-delivered",
            () =>
                (does = () => {
                    const terminated = { reason: "Error", message: '{"second":0}\nInvalid character in header\n' };
                    const status = { phase: "Failed", containerStatuses: [{ state: { terminated } }] };
                    Object.assign(run.cluster.get("Pod", podName()), { status });
                    return {};
                }),
            /its pod .* has ended \(Error\), and its log ends with “Invalid character in header”/,
        ],
        [
            "is not begun",
            "load-not-delivered",
            () => silent.add(podName()),
            /the pod .*-load has not begun within 120 s/,
        ],
        [
            "reaches nobody",
            "no-steady-state",
            () => (does = () => ({ good: 0, bad: { ECONNREFUSED: 10 } })),
            /no steady state under load: .*0% succeeded; 50 × ECONNREFUSED/,
        ],
        [
            "does not meet what is required of it",
            "no-steady-state",
            () => {
                run.plan.actions = [{ ...load, successRate: 0.9 }];
                does = () => ({ good: 8, bad: { "status 503": 2 } });
            },
            /no steady state under load: 80% of 50 requests of visitors succeeded/,
        ],
        [
            "breaks what the checks ask",
            "no-steady-state",
            () => (does = () => (["hot-deals-1", "hot-deals-2"].forEach((pod) => run.setReady(pod, false)), {})),
            /no steady state under load: pods: 0 ready/,
        ],
    ])("attacks nobody if a load %s, and ends it", async (_, code, change, words) => {
        change();
        await prepare();
        await expect(begin()).rejects.toThrow(new RegExp(`ABORTED \\(${code}\\): .*${words.source}`, "s"));
        expect(loadPods()).toEqual([]);
    });

    const k6: LoadAction = { kind: "load", name: "visitors", k6: { image: "k6:1", args: ["run", "/a.js"] } };
    const says = (how: string) => run.cluster.logs.set(podName(), `              * shop: ${how} (gracefulStop: 30s)\n`);

    it("begins k6 if its script sends at a rate", async () => {
        run.plan.actions = [k6];
        await prepare();
        run.after(500, () => says("10.00 iterations/s for 10m0s"));
        await begin();
        expect(run.cluster.get("Pod", podName()).spec.containers[1]).toMatchObject({ name: "k6", image: "k6:1" });
        expect(run.said.join("\n")).toContain("100% of 50 requests of visitors were sent on time");
    });

    it.each([
        ["is a closed loop", "2 looping VUs for 10m0s", /scenario “shop” of k6 is a closed loop \(“2 looping VUs/],
        ["does not say what it is", undefined, /the log of k6 does not say which scenarios/],
    ])("attacks nobody if the script of k6 %s, and ends it", async (_, how, words) => {
        run.plan.actions = [k6];
        await prepare();
        if (how) run.after(500, () => says(how));
        await expect(begin()).rejects.toThrow(new RegExp(`ABORTED \\(action-refused\\): .*${words.source}`, "s"));
        expect(loadPods()).toEqual([]);
    });

    it("lets it through the namespace's policies, but not to pods under an attack that denies traffic", async () => {
        const spec = { podSelector: {}, policyTypes: ["Ingress", "Egress"] };
        run.cluster.add("NetworkPolicy", "default-deny", { spec });
        await begin();
        const own = run.cluster.names("NetworkPolicy").filter((name) => name.includes("-admit-beside-"));
        const specs = own.map((name) => run.cluster.get("NetworkPolicy", name).spec);
        expect(specs.map(({ podSelector }) => podSelector.matchExpressions)).toEqual([
            [{ key: keys.attacked, operator: "DoesNotExist" }],
        ]);
        for (const { policyTypes, ingress } of specs) {
            expect(policyTypes).toEqual(["Ingress"]);
            expect(ingress[0].from[0].podSelector.matchLabels).toEqual({ [keys.pass]: pass });
        }
    });

    it("measures under it what is compared with before the attack", async () => {
        run.plan.baseline = { durationMs: 2_000 };
        run.plan.checks[0]!.limits = [{ of: "successRate", atMostLess: 0.5 }];
        await prepare();
        const { baseline } = await begin();
        expect(baseline).toMatchObject([{ name: "pods" }]);
    });
});

describe("a run under a load", () => {
    beforeEach(prepare);

    it("judges it as a check, beside the others", async () => {
        run.plan.actions = [{ ...load, successRate: 0.9 }];
        await prepare();
        const { verdict, reason, checks, actions } = await observe();
        expect(verdict).toBe("PASSED");
        expect(reason).toMatch(/100% of \d0 requests of visitors succeeded without an attack \(required: 90%/);
        expect(checks.map(({ name, held }) => [name, held])).toEqual([
            ["pods", true],
            ["visitors", true],
        ]);
        expect(actions).toEqual(["send 10 requests/s to / of web during the whole run"]);
        const [{ seconds, due }] = journal().deliveries as [NonNullable<ReturnType<typeof journal>["deliveries"]>[0]];
        expect([seconds >= 5 && seconds <= 8, due]).toEqual([true, seconds * 10]);
    });

    it("FAILED if too few of its requests succeed in the window", async () => {
        run.plan.actions = [{ ...load, successRate: 0.9 }];
        await prepare();
        const steadyUntil = Date.now() + 8_000;
        does = () => (Date.now() < steadyUntil ? {} : { good: 2, bad: { "status 503": 8 } });
        expect(await observe()).toMatchObject({
            verdict: "FAILED",
            reason: expect.stringContaining("most failures: status 503") as string,
        });
    });

    it("needs no more than its required rights", async () => {
        limit(run.cluster, permissionsOf([run.plan]).filter(isRequired));
        expect(await observe()).toMatchObject({ verdict: "PASSED" });
    });

    it("is INCONCLUSIVE if it is not delivered to the end, with what became of its pod", async () => {
        run.after(9_000, () => run.cluster.remove("Pod", podName()));
        expect(await observe()).toMatchObject({
            verdict: "INCONCLUSIVE",
            code: "load-not-delivered",
            reason: expect.stringMatching(
                /requests of visitors were sent on time; of \d+ nothing .* is gone/,
            ) as string,
        });
    });

    it("is INCONCLUSIVE if k6 ends before the checks, though what counts beside it runs", async () => {
        run.plan.actions = [{ kind: "load", name: "visitors", k6: { image: "k6:1", args: ["run", "/a.js"] } }];
        await prepare();
        run.after(500, () => run.cluster.logs.set(podName(), "  * shop: 10.00 iterations/s for 9s (maxVUs: 9)\n"));
        run.after(10_000, () => {
            silent.add(podName());
            const terminated = { reason: "Error", exitCode: 99, message: "thresholds have been crossed\n" };
            const containerStatuses = [
                { name: "sender", state: { running: {} } },
                { name: "k6", state: { terminated } },
            ];
            Object.assign(run.cluster.get("Pod", podName()), { status: { phase: "Running", containerStatuses } });
        });
        expect(await observe()).toMatchObject({
            verdict: "INCONCLUSIVE",
            code: "load-not-delivered",
            reason: expect.stringMatching(
                /of \d+ nothing was reported; its pod .* has ended \(Error\), and its log ends with “thresholds have/,
            ) as string,
        });
    });
});

describe("the end of a run", () => {
    beforeEach(async () => {
        await prepare();
        await begin();
    });

    it("ends its load, whatever else cannot be undone", async () => {
        run.cluster.refuses("list NetworkPolicy", 500, "etcd is slow");
        await expect(settled(endRun(run.cluster.api, { stack: "ours", plan: run.plan }))).rejects.toThrow(
            "etcd is slow",
        );
        expect(loadPods()).toEqual([]);
    });

    it("is not the choice of targets, which removes what a killed try has left of attacks", async () => {
        await settled(endAttacks(run.cluster.api, attacksLeftOf(run.plan)));
        expect(loadPods()).toHaveLength(1);
    });

    it("is found by the sweep, with the policies that let it through", async () => {
        run.cluster.add("NetworkPolicy", "left", {
            metadata: { labels: { [keys.experiment]: run.plan.experiment, [keys.beside]: run.plan.experiment } },
            spec: { podSelector: {}, policyTypes: ["Ingress"] },
        });
        await settled(endAttacks(run.cluster.api, leftOf(run.plan)));
        expect([loadPods(), run.cluster.names("NetworkPolicy")]).toEqual([[], []]);
    });
});
