import { describe, expect, it } from "vitest";
import type { ExperimentDefinition } from "../../../../chaos/definition/definition";
import { type Patch, patched } from "../../../../chaos/definition/patch";
import { keptTargetsOf, planOf, type PlanArgs, planToken, runNameOf } from "../../../../chaos/definition/plan";

const definition: ExperimentDefinition = {
    hypothesis: "It holds.",
    attacks: [{ kind: "blackhole", target: "k8s.deployment=hot-deals" }],
};
const args: PlanArgs = {
    definition,
    name: "hot-deals-blackhole",
    run: "1",
    area: "Global",
    defaultChecks: [{ kind: "podsReady", of: "k8s.deployment=hot-deals" }],
    intervalMs: 1_000,
    timeoutMs: 5_000,
    successRate: 0.9,
    durationMs: 30_000,
    graceMs: 15_000,
    deadlineMs: 600_000,
    onFailure: "report",
    context: "kind-kind",
    clusterName: "local",
    defaultNamespace: "demo",
    reports: "reports",
};
const plan = (changes: Partial<PlanArgs> = {}, defined: Partial<ExperimentDefinition> = {}) =>
    planOf({ ...args, ...changes, definition: { ...definition, ...defined } });
const planPatched = (patch: Patch, defined: Partial<ExperimentDefinition> = {}) =>
    planOf({ ...args, definition: patched({ ...definition, ...defined }, patch) });

describe("the attacks of a plan", () => {
    const attack = (kind: "blackhole" | "dns", target: string) => ({ kind, target });

    it("name the namespace of their targets, and affect one container by default", () => {
        const target = "k8s.deployment=hot-deals,k8s.namespace=demo";
        const radius = { kind: "count", containers: 1 };
        const attacks = [{ name: "blackhole", target, radius, attack: { kind: "blackhole" } }];
        expect(plan()).toMatchObject({ namespace: "demo", attacks });
    });

    it("are named after their kinds, numbered from the second of a kind on", () => {
        const attacks = (["blackhole", "dns", "blackhole"] as const).map((kind) => attack(kind, "k8s.deployment=a"));
        expect(plan({}, { attacks }).attacks.map(({ name }) => name)).toEqual(["blackhole", "dns", "blackhole-2"]);
    });

    it.each<[setting: boolean | undefined, defined: boolean | undefined, planned: true | undefined]>([
        [undefined, undefined, undefined],
        [undefined, true, true],
        [true, undefined, true],
        [false, true, undefined],
    ])(
        "include pods that are not ready by the setting %s, else by the definition's %s",
        (setting, defined, planned) => {
            const attacks = [{ ...attack("blackhole", "k8s.deployment=a"), includeNotReady: defined }];
            const [planned1] = planPatched({ includeNotReady: setting }, { attacks }).attacks;
            expect(planned1!.includeNotReady).toBe(planned);
            expect(planned1!.attack).toEqual({ kind: "blackhole" });
        },
    );

    it("include no pods that are not ready if the setting for the kind makes them a kill", () => {
        const attacks = [{ ...attack("blackhole", "k8s.deployment=a"), includeNotReady: true }];
        expect(planPatched({ attack: "kill" }, { attacks }).attacks[0]!.includeNotReady).toBeUndefined();
    });

    it("are changed by the settings for target, radius and kind", () => {
        const changed = planPatched({ target: "k8s.deployment=gateway", radius: "all", attack: "dns" });
        const target = "k8s.deployment=gateway,k8s.namespace=demo";
        expect(changed.attacks).toEqual([{ name: "dns", target, radius: { kind: "all" }, attack: { kind: "dns" } }]);
    });

    it.each([
        ["established", "cut", "any"],
        ["outward", "unproven", "proven"],
    ] as const)(
        "have %s as the setting says, else as the definition does, and by default none",
        (field, set, usual) => {
            const planned = (defined?: typeof set | typeof usual, setting?: typeof set | typeof usual) => {
                const attacks = [{ ...attack("blackhole", "k8s.deployment=a"), [field]: defined }];
                return planPatched({ [field]: setting }, { attacks }).attacks[0]![field];
            };
            expect([planned(set), planned(usual, set)]).toEqual([set, set]);
            expect([planned(set, usual), planned()]).toEqual([undefined, undefined]);
            // Another plan is another run.
            expect(planToken(planPatched({ [field]: usual }))).toBe(planToken(plan()));
        },
    );

    it("that deny connections into their targets have the witness keep some", () => {
        const attacks = [
            { ...attack("blackhole", "k8s.deployment=a"), ports: [80] },
            attack("dns", "k8s.deployment=b"),
            { ...attack("blackhole", "k8s.deployment=c"), direction: "egress" as const },
            { ...attack("blackhole", "k8s.deployment=d"), peers: "k8s.deployment=a" },
            attack("blackhole", "k8s.deployment=e"),
        ];
        expect(keptTargetsOf(plan({}, { attacks }))).toEqual({
            "hot-deals-blackhole.blackhole": { ports: [80] },
            "hot-deals-blackhole.blackhole-4": {},
        });
    });

    it("look for peers in the namespace of the targets, unless the peers name another", () => {
        const peers = (expression: string) => {
            const attacks = [{ kind: "blackhole", target: "k8s.namespace=other", peers: expression } as const];
            return plan({}, { attacks }).attacks[0]!.attack;
        };
        expect(peers("k8s.deployment=database")).toHaveProperty("peers", "k8s.deployment=database,k8s.namespace=other");
        expect(peers("k8s.namespace=demo")).toHaveProperty("peers", "k8s.namespace=demo");
    });

    it("must be in one namespace", () => {
        const attacks = [attack("dns", "k8s.namespace=a"), attack("dns", "k8s.namespace=b")];
        expect(() => plan({}, { attacks })).toThrow("must be in one namespace, and these are in a and b");
    });
});

describe("the checks of a plan", () => {
    it("are the default checks if the definition has none, with the run's settings", () => {
        const [check] = args.defaultChecks;
        const name = "pods of k8s.deployment=hot-deals";
        expect(plan().checks).toEqual([{ name, check, intervalMs: 1_000, timeoutMs: 5_000, successRate: 0.9 }]);
    });

    it("override the run's settings", () => {
        const check = { ...args.defaultChecks[0]!, name: "pods", perSecond: 4, timeoutMs: 200, successRate: 1 };
        expect(plan({}, { checks: [check] }).checks).toEqual([
            { name: "pods", check, intervalMs: 250, timeoutMs: 200, successRate: 1 },
        ]);
    });

    it("end the attacks early only if they or the run's settings say when", () => {
        const checks = [
            { ...args.defaultChecks[0]!, name: "own", abortBelow: "20%", abortOver: "5s" },
            { ...args.defaultChecks[0]!, name: "none" },
        ];
        const rules = (changes: Partial<PlanArgs>) => plan(changes, { checks }).checks.map(({ abort }) => abort);
        expect(rules({})).toEqual([{ below: 0.2, overMs: 5_000 }, undefined]);
        expect(rules({ abortBelow: 0.5 })).toEqual([
            { below: 0.2, overMs: 5_000 },
            { below: 0.5, overMs: 10_000 },
        ]);
        expect(plan().checks[0]!.abort).toBeUndefined();
    });

    it.each<[Partial<PlanArgs>, RegExp]>([
        [{ abortBelow: 0.95 }, /end below 95%, in a run that passes with 90%/],
        [{ abortBelow: 0.5, durationMs: 9_999 }, /measures 10 s, but answers count for only 10 s/],
        [{ abortBelow: 0.5, intervalMs: 10_000 }, /one answer at an interval of 10 s/],
    ])("must agree with their abort rules: %o", (changes, message) => {
        expect(() => plan(changes)).toThrow(message);
    });

    describe("and what their answers must show", () => {
        const http = { kind: "http", path: "/", url: "http://shop.example" } as const;
        const usual = { atLeast: 0.8, level: 0.95 };
        const planned = (checks: ExperimentDefinition["checks"], changes: Partial<PlanArgs> = {}) =>
            plan(changes, { checks }).checks.map(({ confidence }) => confidence);

        it("is by the run's settings, unless a check sets its own or reads a state", () => {
            const own = { ...http, name: "own", confidence: { atLeast: "70%", level: "99%" } };
            expect(planned([http, own, args.defaultChecks[0]!], { confidence: usual })).toEqual([
                usual,
                { atLeast: 0.7, level: 0.99 },
                undefined,
            ]);
            expect(planned([{ ...http, confidence: { atLeast: "70%" } }])).toEqual([{ atLeast: 0.7, level: 0.95 }]);
            expect(planned([http])).toEqual([undefined]);
        });

        const confidence = { atLeast: 0.99, level: 0.95 };
        const takes =
            "/ of shop: confidence: to show 99% with 95% confidence takes 299 good answers, and the window has ";
        it.each<[string, Partial<PlanArgs>, object, string]>([
            [
                "a longer window or a shorter interval",
                {},
                {},
                `${takes}30, in 30 s with an interval of 1 s; allowed: a window.duration of at least 299s, an ` +
                    "interval of at most 100ms or an atLeast of at most 90.4%; prefer the longer window: it sees " +
                    "outages that a shorter interval does not",
            ],
            [
                "more probes per second of the check's own",
                {},
                { perSecond: 4 },
                `${takes}120, in 30 s with an interval of 250 ms; allowed: a window.duration of at least 75s, a ` +
                    "perSecond of at least 10 or an atLeast of at most 97.5%",
            ],
            [
                "only a shorter interval, if no window is long enough",
                { intervalMs: 30_000 },
                {},
                `${takes}1, in 30 s with an interval of 30 s; allowed: an interval of at most 100ms or an ` +
                    "atLeast of at most 5%",
            ],
            [
                "a success rate that is as high",
                { successRate: 0.98, intervalMs: 20 },
                {},
                "/ of shop: confidence: a run that passes with 98%, the required success rate, may not show 99%; " +
                    "allowed: an atLeast of at most 98% or a successRate of at least 99%",
            ],
            [
                "both, if neither is enough",
                { intervalMs: 60_000, durationMs: 1_000, confidence: { atLeast: 0.999, level: 0.95 } },
                {},
                "takes 2995 good answers, and the window has 0, in 1 s with an interval of 1 min; allowed: a " +
                    "window.duration of at least 1h with an interval of at most 1202ms",
            ],
            [
                "a lower bound, too, if not even both are enough",
                { intervalMs: 60_000, durationMs: 1_000, confidence: { atLeast: 0.99999, level: 0.95 } },
                {},
                "a window.duration of at least 1h with an interval of at most 20ms and an atLeast of at most 99.99",
            ],
        ])("takes %s", (_, changes, fields, message) => {
            const checks = [{ ...http, ...fields, name: "/ of shop" }];
            expect(() => plan({ successRate: 1, confidence, ...changes }, { checks })).toThrow(message);
        });

        it("is possible with what is proposed", () => {
            const possible = { confidence, successRate: 1 };
            expect(planned([http], { ...possible, durationMs: 299_000 })).toEqual([confidence]);
            expect(planned([http], { ...possible, intervalMs: 100 })).toEqual([confidence]);
            expect(planned([{ ...http, perSecond: 10 }], possible)).toEqual([confidence]);
            expect(planned([http], { successRate: 1, confidence: { atLeast: 0.904, level: 0.95 } })).toHaveLength(1);
            expect(() => planned([http], { successRate: 1, confidence: { atLeast: 0.905, level: 0.95 } })).toThrow(
                "takes 31",
            );
        });

        it("is refused if no check has answers that show it", () =>
            expect(() => plan({ confidence: usual })).toThrow(
                "confidence: no check of the experiment is of kind http, grpc or command; allowed: leave it out",
            ));
    });

    describe("that are compared with before the attack", () => {
        const http = { kind: "http", path: "/", url: "http://shop.example" } as const;
        const fast = { ...http, perSecond: 10, latency: { p95: { atMost: "2x" }, p50: { atMost: "+200ms" } } };
        const limits = [
            { of: "p50", atMostMoreMs: 200 },
            { of: "p95", atMostTimes: 2 },
        ];

        it("have a baseline, and without one nothing of a plan is other than before", () => {
            const compared = plan({ baselineMs: 20_000 }, { checks: [fast] });
            expect(compared).toMatchObject({ baseline: { durationMs: 20_000 }, checks: [{ limits }] });
            expect(plan({}, { checks: [fast] }).baseline).toEqual({ durationMs: 30_000 });
            expect(JSON.stringify(plan({ baselineMs: 20_000 }, { checks: [http] }))).toBe(
                JSON.stringify(plan({}, { checks: [http] })),
            );
        });

        it("have the run's limits, unless they set their own or show no latency", () => {
            const latency = [{ of: "p50", atMostTimes: 3 } as const];
            const checks = [{ ...http, name: "usual" }, fast, args.defaultChecks[0]!];
            expect(plan({ latency }, { checks }).checks.map((one) => one.limits)).toEqual([latency, limits, undefined]);
        });

        it("require no success rate if only its drop is limited", () => {
            const drop = { ...fast, perSecond: 20, successRate: { dropAtMost: "1%" } };
            expect(plan({}, { checks: [drop] }).checks[0]).toMatchObject({
                successRate: undefined,
                limits: [...limits, { of: "successRate", atMostLess: 0.01 }],
            });
        });

        it.each<[string, Partial<PlanArgs>, object, string]>([
            [
                "a longer baseline or a shorter interval",
                {},
                { perSecond: undefined },
                "http://shop.example/: to compare p95 takes 144 answers before the attack and under it, and the " +
                    "baseline has 30, in 30 s with an interval of 1 s; allowed: a baseline.duration of at least 144s " +
                    "with a window.duration of at least 144s or an interval of at most 208ms",
            ],
            [
                "both, if neither is enough",
                {},
                { perSecond: undefined, successRate: { dropAtMost: "0.1%" } },
                "takes 3675 answers before the attack and under it, and the baseline has 30, in 30 s with an " +
                    "interval of 1 s; allowed: a baseline.duration of at least 10m with a window.duration of at " +
                    "least 10m and an interval of at most 163ms",
            ],
            [
                "a longer window or more probes per second of its own",
                { durationMs: 10_000 },
                {},
                "and the window has 100, in 10 s with an interval of 100 ms; allowed: a window.duration of at least " +
                    "15s or a perSecond of at least 15",
            ],
            [
                "no more answers before the attack than the run's steps can pass on",
                { baselineMs: 600_000 },
                { perSecond: 20 },
                "baseline: the baseline has 12000 probes of http://shop.example/, and 10000 are possible; " +
                    "allowed: a duration of at most 500s",
            ],
        ])("take %s", (_, changes, fields, message) =>
            expect(() => plan(changes, { checks: [{ ...fast, ...fields }] })).toThrow(message),
        );

        it("are refused if none of them shows how fast the application is", () =>
            expect(() => plan({ latency: [{ of: "p50", atMostTimes: 2 }] })).toThrow(
                "latency: no check of the experiment is of kind http, grpc or command; allowed: leave it out",
            ));

        it("put off the default deadline only of a run without an attack: that counts from before the baseline", () => {
            const deadlineOf = (attacks: ExperimentDefinition["attacks"], checks: ExperimentDefinition["checks"]) =>
                plan({ deadlineMs: undefined, until: "verdict", graceMs: 0 }, { attacks, checks }).deadlineMs;
            const attacks = definition.attacks;
            expect(deadlineOf(attacks, [fast]) - deadlineOf(attacks, [http])).toBe(0);
            expect(deadlineOf([], [fast]) - deadlineOf([], [http])).toBe(30_000);
        });
    });

    it("need a Service if one of them is an http check", () => {
        const checks = [{ kind: "http", path: "/" } as const];
        expect(() => plan({}, { checks })).toThrow(
            "the experiment hot-deals-blackhole has an http check, and no Service to ask: set `service` or `url` of /",
        );
        const service = { namespace: "demo", name: "gateway", port: 80 };
        expect(plan({ service }, { checks })).toMatchObject({ service });
        for (const own of [{ service: "orders" }, { url: "http://shop.example" }])
            expect(plan({}, { checks: [{ ...checks[0]!, ...own }] }).service).toBeUndefined();
    });
});

it("a plan names the stack's agent, if it has one", () => {
    const agent = { namespace: "demo-agent", name: "agent" };
    expect(plan({ agent })).toMatchObject({ agent });
    expect(plan().agent).toBeUndefined();
});

it("a run's name differs among stacks, not if one is renamed", () => {
    const name = runNameOf(plan(), "local/0123456789abcdef");
    expect(name).not.toBe(runNameOf(plan(), "local/fedcba9876543210"));
    expect(name).toBe(runNameOf(plan(), "renamed/0123456789abcdef"));
    expect(name).toMatch(new RegExp(`^${plan().experiment}-[0-9a-f]{8}$`));
});

it("equal plans have equal tokens, and another plan has another one", () => {
    expect(planToken(plan())).toBe(planToken(plan()));
    expect(planToken(plan({ run: "2" }))).not.toBe(planToken(plan()));
});

it("where an experiment is written, and by which command it runs, make no other run of it", () => {
    const elsewhere = { settings: "experiment.", stack: "local", command: "npm run experiment" };
    expect(planToken(plan(elsewhere))).toBe(planToken(plan()));
    expect(plan(elsewhere)).toMatchObject(elsewhere);
});

describe("the deadline, if nobody sets one,", () => {
    const unset = { deadlineMs: undefined };

    it("is what the run needs at most, and a minute", () => {
        // 5 s until the attack is proven, twice 45 s for a slow network, grace, window, and the last answers.
        expect(plan(unset)).toMatchObject({ deadlineMs: (5 + 90 + 15 + 30 + 5 + 60) * 1_000, isUsualDeadline: true });
    });

    it("of a run that only checks and acts also has room for what comes before its window", () => {
        const target = { attacks: undefined, actions: [{ kind: "wait", durationMs: 1_000 }] as const };
        const without = plan({ ...unset, area: "demo" }, { ...target, actions: [...target.actions] });
        expect(without.deadlineMs).toBe((180 + 30 + 5 + 60) * 1_000);
    });

    it("is 10 min for attacks that stay", () => {
        const staying = plan({ ...unset, until: "disabled" });
        expect(staying).toMatchObject({ deadlineMs: 600_000, isUsualDeadline: undefined });
    });

    it("makes no other run than the 10 min that version 0.5.0 has planned", () => {
        expect(planToken(plan(unset))).toBe(planToken(plan()));
        expect(planToken(plan({ ...unset, until: "disabled" }))).toBe(planToken(plan({ until: "disabled" })));
        expect(planToken(plan({ deadlineMs: 205_000 }))).not.toBe(planToken(plan()));
    });
});
