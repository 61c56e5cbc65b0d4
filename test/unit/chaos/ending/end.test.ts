import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ObjectApi, resources } from "../../../../chaos/cluster/resources";
import { endAttacks } from "../../../../chaos/ending/end";
import { attacksLeftOf } from "../../../../chaos/ending/left";
import { ofRun } from "../../../../chaos/ending/scope";
import { unrunnable } from "../../../../chaos/kinds/attacks/fail/image";
import { objectApiBy } from "../../../../chaos/witness/api";
import { FakeCluster, refuse, type StoredObject } from "../support/fake-cluster";
import { httpOf } from "../support/fake-http";
import { settled, startClock, stopClock } from "../support/time";

const label = "chaos-experiments/target";
const attacked = "chaos-experiments/attacked";
const line = { key: attacked, operator: "DoesNotExist" };
const ofExperiment = { labels: { "chaos-experiments/experiment": "x" } };
const ofAttack = { ...ofExperiment, annotations: { "chaos-experiments/targets": "a" } };
const json = (note: object) => JSON.stringify(note);

/** What a run has changed, by the run that has changed it. */
const exempting = (run: string) => ({
    metadata: { annotations: { "chaos-experiments/exempting": json({ run, selector: {}, owners: [] }) } },
    spec: { podSelector: { matchExpressions: [line] } },
});
const pointing = (run: string, note: object = { run, selector: { app: "web" }, owners: [] }) => ({
    metadata: { annotations: { "chaos-experiments/pointing": json(note) } },
    spec: { selector: { "chaos-experiments/proxy": `${run}-fault` } },
});
const scaled = (run: string, replicas = 3) => ({
    metadata: {
        uid: "u",
        labels: { "chaos-experiments/set.replicas": "1-3-u", "chaos-experiments/set-by": run },
    },
    spec: { replicas },
});

const stopped = (run: string) => ({ spec: { containers: [{ name: "web", image: unrunnable(run, "shop/web:1") }] } });

/** The run `x-1` has three attacks, stops containers and scales a Deployment; `x` is its experiment. */
const own = ofRun(
    { namespace: "demo", run: "x-1" },
    [
        { object: { resource: resources.networkPolicy, name: "x-1-blackhole" }, label: "x.blackhole" },
        { object: { resource: resources.configMap, name: "x-1-kill" }, label: "x.kill" },
        { object: { resource: resources.pod, name: "x-1-fault" }, label: "x.fault" },
    ],
    [
        { resource: resources.service, name: "web" },
        { resource: resources.deployment, name: "web" },
        { resource: resources.pod },
    ],
);
const left = attacksLeftOf({ namespace: "demo", experiment: "x" });

let cluster: FakeCluster;
beforeEach(() => {
    stopClock();
    cluster = new FakeCluster();
});
afterEach(startClock);

type Added = [Parameters<FakeCluster["add"]>[0], string, object];

/** A state, and what becomes of it: undefined if it is gone. Of own run; and, if that differs, of all that is left. */
const states: [string, Added[], ((one: StoredObject | undefined) => unknown)[], unknown[], unknown[]?][] = [
    ["nothing", [], [], []],
    [
        "targets, of which two have lost a label",
        [
            ["Pod", "a", { metadata: { labels: { app: "web", [label]: "x.blackhole", [attacked]: "x.blackhole" } } }],
            ["Pod", "b", { metadata: { labels: { [label]: "x.kill" } } }],
            ["Pod", "c", { metadata: { labels: { [attacked]: "x.blackhole", "chaos-experiments/combined": "1" } } }],
        ],
        [(one) => one!.metadata.labels],
        [{ app: "web" }, {}, {}],
    ],
    [
        "a target of another experiment, which has begun since, or was left",
        [["Pod", "d", { metadata: { labels: { [label]: "other.blackhole" } } }]],
        [(one) => one!.metadata.labels],
        [{ [label]: "other.blackhole" }],
        [{}],
    ],
    ["a pod that is no target", [["Pod", "e", { metadata: { labels: { app: "web" } } }]], [(one) => !one], [false]],
    [
        "the attacks' objects",
        [
            ["NetworkPolicy", "x-1-blackhole", { metadata: ofExperiment }],
            ["ConfigMap", "x-1-kill", { metadata: ofAttack }],
            ["Pod", "x-1-fault", { metadata: ofAttack }],
        ],
        [(one) => !one],
        [true, true, true],
    ],
    [
        "objects of an earlier run of the experiment",
        [
            ["NetworkPolicy", "x-0-blackhole", { metadata: ofExperiment }],
            ["ConfigMap", "x-0-kill", { metadata: ofAttack }],
        ],
        [(one) => !one],
        [false, false],
        [true, true],
    ],
    [
        "objects of another experiment, the Job's program and its pod",
        [
            ["NetworkPolicy", "y-1", { metadata: { labels: { "chaos-experiments/experiment": "y" } } }],
            ["ConfigMap", "x-1-deadline", { metadata: ofExperiment }],
            ["Pod", "x-1-deadline-abc", { metadata: ofExperiment }],
        ],
        [(one) => !one],
        [false, false, false],
    ],
    [
        "policies that let go of targets, of this run, of another one, and with a note that nobody can read",
        [
            ["NetworkPolicy", "one", exempting("x-1")],
            ["NetworkPolicy", "two", exempting("y-1")],
            [
                "NetworkPolicy",
                "three",
                { ...exempting(""), metadata: { annotations: { "chaos-experiments/exempting": "{" } } },
            ],
        ],
        [(one) => [one!.metadata.annotations, one!.spec.podSelector]],
        [
            [{}, {}],
            [exempting("y-1").metadata.annotations, { matchExpressions: [line] }],
            [{ "chaos-experiments/exempting": "{" }, { matchExpressions: [line] }],
        ],
        [
            [{}, {}],
            [{}, {}],
            // Nothing is known of an earlier selector.
            [{}, { matchExpressions: [line] }],
        ],
    ],
    [
        "a policy for the witness, which the Job may not delete: it goes with that for the Job's own pod",
        [["NetworkPolicy", "x-1-admit-witness-1", { metadata: ofExperiment, spec: { podSelector: {} } }]],
        [(one) => one?.spec.podSelector],
        [{}],
        [undefined],
    ],
    [
        "a Service that points to a proxy",
        [["Service", "web", pointing("x-1")]],
        [(one) => [one!.metadata.annotations, one!.spec.selector]],
        [[{}, { app: "web" }]],
    ],
    [
        "a Service that another run has pointed to its proxy",
        [["Service", "web", pointing("y-1")]],
        [(one) => one!.spec.selector],
        [pointing("y-1").spec.selector],
        [{ app: "web" }],
    ],
    [
        "a Service whose note is lost: the proxy's own keeps the selector",
        [
            ["Service", "web", pointing("x-1", {})],
            ["Service", "x-1-fault", { spec: { selector: { app: "kept" } } }],
        ],
        [(one) => one?.spec.selector],
        [{ app: "kept" }, { app: "kept" }],
    ],
    [
        "a Service that points to a proxy, and of which an action has set a field",
        [
            [
                "Service",
                "web",
                {
                    metadata: {
                        uid: "u",
                        ...pointing("x-1").metadata,
                        labels: { "chaos-experiments/set.paused": "none-true-u", "chaos-experiments/set-by": "x-1" },
                    },
                    spec: { ...pointing("x-1").spec, paused: true },
                },
            ],
        ],
        [(one) => [one!.metadata.annotations, one!.metadata.labels, one!.spec]],
        [[{}, {}, { selector: { app: "web" } }]],
    ],
    [
        "pods with stopped containers, of this run, of another one, and with an image that somebody has set since",
        [
            ["Pod", "one", stopped("x-1")],
            ["Pod", "two", stopped("y-1")],
            [
                "Pod",
                "three",
                {
                    metadata: { annotations: { "chaos-experiments/stopped": json({ run: "x-1" }) } },
                    spec: { containers: [{ name: "web", image: "shop/web:2" }] },
                },
            ],
        ],
        [(one) => [one!.metadata.annotations ?? {}, one!.spec.containers[0].image]],
        [
            [{}, "shop/web:1"],
            [{}, unrunnable("y-1", "shop/web:1")],
            [{}, "shop/web:2"],
        ],
        [
            [{}, "shop/web:1"],
            [{}, "shop/web:1"],
            [{}, "shop/web:2"],
        ],
    ],
    [
        "a pod that somebody has labeled as a workload is labeled that an action has scaled",
        [
            [
                "Pod",
                "a",
                {
                    metadata: {
                        uid: "u",
                        labels: {
                            "chaos-experiments/set.activeDeadlineSeconds": "1-none-u",
                            "chaos-experiments/set-by": "x-1",
                        },
                    },
                    spec: { containers: [] },
                },
            ],
        ],
        [(one) => one!.spec],
        [{ containers: [] }],
    ],
    [
        "a Deployment that is scaled",
        [["Deployment", "web", scaled("x-1")]],
        [(one) => [one!.metadata.labels, one!.spec.replicas]],
        [[{}, 1]],
    ],
    [
        "a Deployment that somebody has scaled since",
        [["Deployment", "web", scaled("x-1", 5)]],
        [(one) => [one!.metadata.labels, one!.spec.replicas]],
        [[{}, 5]],
    ],
    [
        "a Deployment that another run has scaled since, and one that it has left scaled",
        [
            ["Deployment", "web", scaled("y-1")],
            ["Deployment", "another", scaled("y-1")],
        ],
        [(one) => one!.spec.replicas],
        [3, 3],
        [1, 1],
    ],
];

describe.each<[string, (of: FakeCluster) => ObjectApi]>([
    ["a machine", (of) => of.api],
    ["the Job", (of) => objectApiBy(httpOf(of))],
])("ending attacks with the client of %s", (_, apiOf) => {
    const ending = (reach = own) => settled(endAttacks(apiOf(cluster), reach));
    const found = ([kind, name]: Added) => (cluster.names(kind).includes(name) ? cluster.get(kind, name) : undefined);

    describe.each(states)("if there is %s:", (_state, added, [seen], ofOwn, ofAll = ofOwn) => {
        beforeEach(() => added.forEach((one) => cluster.add(...one)));

        it.each([
            ["this run's", own, ofOwn],
            ["all that is left", left, ofAll],
        ])("%s", async (_what, reach, expected) => {
            await ending(reach);
            expect(added.map((one) => seen!(found(one)))).toEqual(expected);
            await ending(reach);
            expect(added.map((one) => seen!(found(one)))).toEqual(expected);
        });
    });

    describe("has one order", () => {
        const changed: string[] = [];
        /** What changes the objects of these names, in turn. */
        const at = (...names: string[]) => {
            expect(changed).toEqual(expect.arrayContaining(names));
            return names.map((name) => changed.indexOf(name));
        };
        const inOrder = (...parts: number[][]) => {
            for (const [index, part] of parts.slice(1).entries())
                expect(Math.max(...parts[index]!)).toBeLessThan(Math.min(...part));
        };
        const always = { spec: { podSelector: { matchExpressions: [line] } } };

        beforeEach(() => {
            changed.length = 0;
            cluster.add("Pod", "a", { metadata: { labels: { [label]: "x.blackhole", [attacked]: "x.blackhole" } } });
            cluster.add("Pod", "b", { metadata: { labels: { [label]: "x.blackhole" } } });
            cluster.add("NetworkPolicy", "x-1-blackhole", { metadata: ofExperiment });
            cluster.add("NetworkPolicy", "one", exempting("x-1"));
            cluster.intercept = (call, { name }) => {
                if (!/^(list|get)/.test(call)) changed.push(name!);
            };
        });

        it("what ends an attack by itself, then policies, the attacks' objects, and labels", async () => {
            cluster.add("ConfigMap", "x-1-kill", { metadata: ofAttack });
            cluster.add("Pod", "x-1-fault", { metadata: ofAttack });
            cluster.add("Service", "web", pointing("x-1"));
            // What experiments add lets something through: no pod needs it.
            cluster.add("NetworkPolicy", "x-1-admit-witness-1", { metadata: ofExperiment, ...always });
            await ending();
            // While Cilium waits to read new labels, it does not notice that a policy is gone.
            inOrder(at("x-1-kill", "web"), at("one"), at("x-1-blackhole", "x-1-fault"), at("a", "b"));
        });

        it("labels only once the attack's policies are deleted, though that takes a moment", async () => {
            const api = apiOf(cluster);
            const slow: ObjectApi = {
                ...api,
                delete: async (...of) => {
                    await new Promise((resolve) => setTimeout(resolve, 100));
                    return api.delete(...of);
                },
            };
            await settled(endAttacks(slow, own));
            inOrder(at("x-1-blackhole"), at("a", "b"));
        });

        it.each<[string, () => void]>([
            ["always leaves out pods under attack", () => cluster.add("NetworkPolicy", "always", always)],
            ["another run has changed", () => cluster.add("NetworkPolicy", "theirs", exempting("y-1"))],
            [
                "cannot be restored",
                () => {
                    const note = cluster.intercept;
                    cluster.intercept = (call, of) => {
                        note?.(call, of);
                        if (call === "patch NetworkPolicy") refuse(403, "forbidden");
                    };
                },
            ],
        ])("with a policy that %s, labels by which it selects pods go before the attack's", async (_what, add) => {
            add();
            await ending().catch(() => undefined);
            inOrder(at("one"), at("a"), at("x-1-blackhole"), at("b"));
        });
    });

    it("ends the rest if something fails, and says all that failed", async () => {
        for (const name of ["a", "b"]) cluster.add("Pod", name, { metadata: { labels: { [label]: "x.blackhole" } } });
        cluster.add("NetworkPolicy", "x-1-blackhole", { metadata: ofExperiment });
        cluster.add("Deployment", "web", scaled("x-1"));
        cluster.intercept = (call, { name }) => {
            if (call === "patch Pod" && name === "a") refuse(500, "etcd is slow");
            if (call === "patch Deployment") refuse(403, "forbidden");
        };
        const failed = (await ending().catch((error: unknown) => error)) as AggregateError;
        expect(failed.errors.map(({ code }: { code: number }) => code).sort()).toEqual([403, 500]);
        expect(cluster.get("Pod", "b").metadata.labels).toEqual({});
        expect(cluster.names("NetworkPolicy")).toEqual([]);
    });

    it("keeps what a fault's callers need while its Service cannot be restored, and tries again", async () => {
        const denies = { spec: { podSelector: { matchLabels: { "chaos-experiments/combined": "1" } } } };
        const made = { ...ofExperiment, annotations: { "chaos-experiments/rests-on": "{}" } };
        cluster.add("Service", "web", pointing("x-1"));
        cluster.add("Service", "x-1-fault", { metadata: ofExperiment, spec: { selector: { app: "web" } } });
        cluster.add("NetworkPolicy", "x-1-blackhole", { metadata: ofAttack });
        cluster.add("NetworkPolicy", "x-1-blackhole-1", { metadata: made, ...denies });
        cluster.add("NetworkPolicy", "x-1-admit-fault-0", { metadata: made, spec: { podSelector: {} } });
        let isDenied = true;
        cluster.intercept = (call) => {
            if (call === "patch Service" && isDenied) refuse(500, "failed calling webhook");
        };
        await expect(ending(left)).rejects.toMatchObject({ code: 500 });
        expect(cluster.names("Service")).toEqual(["web", "x-1-fault"]);
        expect(cluster.names("NetworkPolicy")).toEqual(["x-1-admit-fault-0"]);
        isDenied = false;
        await ending(left);
        expect(cluster.names("Service")).toEqual(["web"]);
        expect(cluster.get("Service", "web").spec.selector).toEqual({ app: "web" });
        expect(cluster.names("NetworkPolicy")).toEqual([]);
    });

    it("says nothing of a Deployment that another run has scaled, and somebody since", async () => {
        const said: string[] = [];
        cluster.add("Deployment", "web", scaled("y-1", 5));
        await settled(endAttacks(apiOf(cluster), own, (message) => said.push(message)));
        expect(said).toEqual([]);
        await settled(endAttacks(apiOf(cluster), left, (message) => said.push(message)));
        expect(said).toEqual(["Deployment web keeps 5 replicas; before the run it had 1"]);
    });

    it("changes an object again that somebody changes at the same moment", async () => {
        cluster.add("Service", "web", pointing("x-1"));
        let conflicts = 2;
        cluster.intercept = (call) => {
            if (call === "patch Service" && conflicts-- > 0) refuse(409, "changed");
        };
        await ending();
        expect(cluster.get("Service", "web").spec.selector).toEqual({ app: "web" });
    });

    it("ends what an update has let begin meanwhile: a fault whose Service was read before", async () => {
        const { spec } = pointing("x-1");
        cluster.add("Service", "web", { spec: { selector: { app: "web" } } });
        cluster.add("Pod", "x-1-fault", { metadata: ofAttack });
        cluster.intercept = (call) => {
            if (call !== "delete Pod") return;
            Object.assign(cluster.get("Service", "web").metadata, pointing("x-1").metadata);
            cluster.get("Service", "web").spec = spec as never;
        };
        await ending();
        expect(cluster.get("Service", "web").spec.selector).toEqual({ app: "web" });
    });

    it("has not failed if a label that could not be removed at first could be a moment later", async () => {
        cluster.add("Pod", "a", { metadata: { labels: { [label]: "x.blackhole", [attacked]: "x.blackhole" } } });
        cluster.add("NetworkPolicy", "always", { spec: { podSelector: { matchExpressions: [line] } } });
        let failures = 1;
        cluster.intercept = (call) => {
            if (call === "patch Pod" && failures-- > 0) refuse(500, "etcd is slow");
        };
        await ending();
        expect(cluster.get("Pod", "a").metadata.labels).toEqual({});
    });

    it("removes an attack on 50 targets within 4 s, though no patch gets an answer", async () => {
        for (let pod = 0; pod < 50; pod++)
            cluster.add("Pod", `p${pod}`, { metadata: { labels: { [label]: "x.blackhole" } } });
        cluster.add("NetworkPolicy", "theirs", exempting("x-1"));
        cluster.add("NetworkPolicy", "x-1-blackhole", { metadata: ofExperiment });
        const api = apiOf(cluster);
        const hung: ((error: Error) => void)[] = [];
        let hangs = true;
        const fail = async () => {
            if (!hangs) throw new Error("no answer");
            return new Promise<undefined>((_resolve, reject) => void hung.push(reject));
        };
        const hanging = { ...api, patch: fail };
        const ended = endAttacks(hanging, own);
        const begun = Date.now();
        await settled(
            (async () => {
                while (cluster.names("NetworkPolicy").includes("x-1-blackhole"))
                    await new Promise((resolve) => setTimeout(resolve, 50));
            })(),
        );
        expect(Date.now() - begun).toBeLessThan(4_000);
        hangs = false;
        for (const reject of hung) reject(new Error("no answer"));
        await expect(ended).rejects.toThrow("no answer");
    });

    it("ends attacks on more pods than a page of a list has", async () => {
        for (let pod = 0; pod < 50; pod++)
            cluster.add("Pod", `p${pod}`, { metadata: { labels: { [label]: "x.kill" } } });
        await ending();
        expect(cluster.names("Pod").filter((name) => cluster.get("Pod", name).metadata.labels![label])).toEqual([]);
    });
});

describe("the end of an attack is said on the pods on which its beginning was said", () => {
    const events = () => cluster.names("Event").map((name) => cluster.get("Event", name));
    const begun = { "chaos-experiments/begun": "x-1" };
    const apis: [string, () => ObjectApi][] = [
        ["the update", () => cluster.api],
        ["the Job", () => objectApiBy(httpOf(cluster))],
    ];
    beforeEach(() => {
        cluster.add("Pod", "a", { metadata: { uid: "u", annotations: begun, labels: { [label]: "x.blackhole" } } });
        cluster.add("Pod", "b", { metadata: { labels: { [label]: "x.blackhole" } } });
    });

    it.each(apis)("by %s, once", async (_, api) => {
        await endAttacks(api(), own);
        await endAttacks(api(), left);
        expect(events()).toMatchObject([
            {
                metadata: { name: "x-1.u.ended", namespace: "demo" },
                involvedObject: { kind: "Pod", namespace: "demo", name: "a", uid: "u" },
                reason: "ChaosAttackEnded",
                message: "Chaos experiment x no longer attacks this pod",
            },
        ]);
        expect(cluster.get("Pod", "a").metadata.annotations).toEqual({});
    });

    it.each(apis)("and %s that may make no Events ends it all the same", async (_, api) => {
        cluster.intercept = (call) => {
            if (call === "create Event") refuse(403, "events is forbidden");
        };
        expect(await endAttacks(api(), own)).toBeGreaterThanOrEqual(2);
        for (const pod of ["a", "b"]) expect(cluster.get("Pod", pod).metadata.labels).toEqual({});
    });
});
