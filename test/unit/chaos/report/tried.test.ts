import { describe, expect, it } from "vitest";
import type { Action } from "../../../../chaos/kinds/actions/registry";
import type { Attack } from "../../../../chaos/kinds/attacks/registry";
import type { Journal } from "../../../../chaos/report/journal-schema";
import type { ReportedRun } from "../../../../chaos/report/reported-run";
import { indexPage } from "../../../../chaos/report/runs-page";
import { triedEdges } from "../../../../chaos/report/tried";
import { triedJson, triedLines } from "../../../../chaos/report/tried-table";
import type { Verdict } from "../../../../chaos/report/verdict";
import { runWith } from "./runs";
import { count, journal } from "./support";

const deployment = (name: string, namespace = "demo") => `k8s.deployment=${name},k8s.namespace=${namespace}`;
const target = { ...journal.attacks[0]!.targets[0]!, namespace: "demo", pod: "api-1-2", container: "app" };
const day = 86_400_000;
const now = Date.UTC(2026, 10, 29);

interface Made {
    experiment?: string;
    verdict?: Verdict;
    daysAgo?: number;
    attack?: Attack;
    /** Of the attack. */
    target?: string;
    /** As the journal notes them; versions before this one do not. */
    workloads?: string[];
    peers?: string[];
    actions?: Action[];
    /** How many of the actions were done. @default all */
    doneActions?: number;
    /** Why the next one failed. @default it did not begin */
    problem?: string;
    listed?: string[];
    cluster?: string;
    context?: string;
    namespaceUid?: string;
}

function made({ experiment = "lost", verdict = "PASSED", daysAgo = 1, ...of }: Made): ReportedRun {
    const { attack = { kind: "blackhole" }, actions = [], listed, cluster = "local", context, namespaceUid } = of;
    const planned = {
        name: attack.kind,
        target: of.target ?? deployment("api"),
        radius: { kind: "all" },
        attack,
    } as const;
    const attacks = of.actions ? [] : [planned];
    const done = { name: attack.kind, targets: [target], workloads: of.workloads, peerWorkloads: of.peers };
    return runWith(
        { name: experiment, verdict },
        {
            startedAt: now - daysAgo * day,
            plan: { ...journal.plan, namespace: "demo", clusterName: cluster, context, attacks, actions },
            namespaceUid,
            attacks: verdict === "ABORTED" || of.actions ? [] : [done],
            actions: performed({ actions, ...of }),
            workloads: listed?.map((name) => deployment(name)),
        },
    );
}

/** Later actions than one that failed do not begin. */
function performed({ actions = [], doneActions = actions.length, problem }: Made): Journal["actions"] {
    const begun = actions.slice(0, doneActions + (problem === undefined ? 0 : 1));
    return begun.map((action, index) => ({
        action: action.kind,
        begunAt: now,
        endedAt: now,
        ...(index === doneActions && { problem }),
    }));
}

const shown = ({ caller, callee }: { caller?: string; callee?: string }) => `${caller ?? ""} > ${callee ?? ""}`;

const u = (namespaceUid: string): Made => ({ namespaceUid });
/** Two runs, of which the second differs in something. */
const twice = (first: Made, second: Made): Made[] => [first, { ...first, ...second }];

describe("the edges that a run tries", () => {
    const front = { peers: [deployment("front")] };
    const peers = deployment("front");
    const from = { listed: ["front", "web", "api", "db"] };
    const three: Made = {
        actions: [
            { kind: "scale", deployment: "db", replicas: 0 },
            { kind: "wait", durationMs: 1 },
            { kind: "scale", deployment: "web", replicas: 0 },
        ],
    };
    const elsewhere = [{ host: "pay.example.com", port: 443 }, { cidr: "203.0.113.0/24" }];
    it.each<[what: string, run: Made, edges: string[]]>([
        ["all into a target, whose callers are not known", {}, [" > demo/api"]],
        [
            "those of the workloads that the journal notes",
            { target: "k8s.label.a=b,k8s.namespace=demo", workloads: [deployment("api"), deployment("web")] },
            [" > demo/api", " > demo/web"],
        ],
        [
            "those of a workload of another kind",
            { workloads: ["k8s.statefulset=db,k8s.namespace=demo"] },
            [" > demo/statefulset/db"],
        ],
        [
            "those of the containers, if nothing names a workload",
            { target: "k8s.namespace=demo" },
            [" > demo/container/app"],
        ],
        [
            "those from peers",
            { attack: { kind: "blackhole", direction: "ingress", peers }, ...front },
            ["demo/front > demo/api"],
        ],
        [
            "those to peers",
            { attack: { kind: "blackhole", direction: "egress", peers }, ...front },
            ["demo/api > demo/front"],
        ],
        [
            "those from peers that an earlier version has not noted",
            { attack: { kind: "blackhole", direction: "ingress", peers } },
            ["demo/front > demo/api"],
        ],
        [
            "both, if both are denied and nothing says who calls",
            { attack: { kind: "blackhole", peers }, ...front },
            ["demo/api > demo/front", "demo/front > demo/api"],
        ],
        [
            "all out of a target, if only these are denied",
            { attack: { kind: "blackhole", direction: "egress" } },
            ["demo/api > "],
        ],
        [
            "those to addresses",
            { attack: { kind: "blackhole", peers: elsewhere } },
            ["demo/api > 203.0.113.0/24", "demo/api > pay.example.com:443"],
        ],
        ["that to DNS", { attack: { kind: "dns" } }, ["demo/api > DNS"]],
        ["those into a Service's pods", { attack: { kind: "fault", service: "api", delay: "1s" } }, [" > demo/api"]],
        [
            "those into what an action changes",
            {
                actions: [
                    { kind: "scale", deployment: "db", replicas: 0 },
                    { kind: "wait", durationMs: 1 },
                ],
            },
            [" > demo/db"],
        ],
        ["known ones into a target", { ...from }, ["demo/front > demo/api", "demo/web > demo/api"]],
        [
            "known ones out of a target",
            { ...from, attack: { kind: "blackhole", direction: "egress" } },
            ["demo/api > demo/db"],
        ],
        [
            "of both ways the known one",
            { ...from, attack: { kind: "blackhole", peers }, ...front },
            ["demo/front > demo/api"],
        ],
        [
            "the one that is denied, though the other way is known",
            { ...from, attack: { kind: "blackhole", direction: "egress", peers }, ...front },
            ["demo/api > demo/front"],
        ],
        [
            "those of an expression with spaces",
            { target: "k8s.deployment = api, k8s.namespace = demo" },
            [" > demo/api"],
        ],
        [
            "those into what was changed before an action failed",
            { ...three, doneActions: 1, problem: "p" },
            [" > demo/db"],
        ],
        [
            "those into what was changed before an abort",
            { ...three, verdict: "FAILED", doneActions: 2 },
            [" > demo/db"],
        ],
        ["none into what it never changed", { ...three, verdict: "FAILED", doneActions: 0 }, []],
        ["none of what it never began", { ...from, verdict: "ABORTED" }, []],
    ])("are %s", (_, run, expected) => {
        const calls = [
            ["front", "api"],
            ["web", "api"],
            ["api", "db"],
            ["gone", "api"],
        ] as const;
        const { edges } = triedEdges([made(run)], calls);
        expect(
            edges
                .filter(({ runs }) => runs > 0)
                .map(shown)
                .sort(),
        ).toEqual(expected);
    });

    it("were never tried if no run attacked them, as far as journals of the last 30 days list workloads", () => {
        const runs = [
            made({ listed: ["api", "gone"], daysAgo: 33 }),
            made({ listed: ["api", "stopped"], daysAgo: 31 }),
            made({ listed: ["api", "web", "front"], daysAgo: 2 }),
            made({ daysAgo: 0 }),
        ];
        const { edges, unlisted } = triedEdges(runs, [
            ["front", "web"],
            ["stopped", "web"],
            ["gone", "web"],
        ]);
        expect(edges.map((edge) => [shown(edge), edge.runs])).toEqual([
            [" > demo/front", 0],
            [" > demo/stopped", 0],
            ["demo/front > demo/web", 0],
            ["demo/stopped > demo/web", 0],
            [" > demo/api", 4],
        ]);
        expect(unlisted).toEqual([]);
    });

    it("are not those of an ABORTED run: it may name what does not exist", () => {
        const typo = deployment("hot-dealz", "dmeo");
        expect(triedEdges([made({ verdict: "ABORTED", target: typo, cluster: "other" })])).toEqual({
            edges: [],
            unlisted: [],
        });
        const { edges } = triedEdges([made({}), made({ verdict: "ABORTED", target: typo, context: "other" })]);
        expect(edges.map(shown)).toEqual([" > demo/api"]);
    });

    it.each<[what: string, runs: Made[], callees: string[]]>([
        ["their cluster's name, if nothing else is known", [{}, { cluster: "cloud" }], ["cloud/", "local/"]],
        ["their context, which may be all that differs", [{ context: "dev" }, { context: "prod" }], ["dev/", "prod/"]],
        ["nothing, if stacks give one context's cluster two names", twice({ context: "one" }, { cluster: "ci" }), [""]],
        [
            "nothing, if two contexts lead to one namespace",
            twice({ ...u("a"), context: "one" }, { context: "two" }),
            [""],
        ],
        ["nothing, if a context's namespace was made again", twice({ ...u("a"), context: "one" }, u("b")), [""]],
        [
            "the namespace's uid, if a kubeconfig or a pod gives no name",
            [u("aaaaaaaa-1"), u("bbbbbbbb-1"), { ...u("cccccccc-1"), context: "inClusterContext" }],
            ["inClusterContext (cccccccc)/", "local (aaaaaaaa)/", "local (bbbbbbbb)/"],
        ],
        [
            "nothing, if one run knows the context of what a pod attacked",
            twice({ ...u("a"), context: "inClusterContext" }, { context: "one" }),
            [""],
        ],
    ])("are named with %s", (_, runs, prefixes) => {
        const { edges, unlisted } = triedEdges(runs.map(made));
        expect(edges.map(shown)).toEqual(prefixes.map((prefix) => ` > ${prefix}demo/api`));
        expect(unlisted).toEqual(prefixes.map((prefix) => `${prefix}demo`));
    });

    it("of two clusters have a verdict each: one that PASSED does not mend the other", () => {
        const { edges } = triedEdges([
            made({ context: "prod", verdict: "FAILED", daysAgo: 5 }),
            made({ context: "dev", daysAgo: 1 }),
        ]);
        expect(edges.map(({ callee, last }) => [callee, last?.journal.conclusion.verdict])).toEqual([
            ["prod/demo/api", "FAILED"],
            ["dev/demo/api", "PASSED"],
        ]);
    });
});

describe("the verdict of an edge", () => {
    type Run = [verdict: Verdict, daysAgo: number, experiment?: string];
    it.each<[what: string, runs: Run[], verdict: Verdict | undefined, daysAgo?: number, isInconclusiveSince?: boolean]>(
        [
            [
                "is that of the last run",
                [
                    ["FAILED", 3],
                    ["PASSED", 2],
                ],
                "PASSED",
                2,
            ],
            [
                "is FAILED although INCONCLUSIVE runs came later",
                [
                    ["FAILED", 3],
                    ["INCONCLUSIVE", 2],
                ],
                "FAILED",
                3,
                true,
            ],
            [
                "is PASSED with the age of that run, if an INCONCLUSIVE one came later",
                [
                    ["PASSED", 3],
                    ["INCONCLUSIVE", 2],
                ],
                "PASSED",
                3,
                true,
            ],
            [
                "is INCONCLUSIVE if nothing else was found",
                [
                    ["INCONCLUSIVE", 3],
                    ["INCONCLUSIVE", 2],
                ],
                "INCONCLUSIVE",
                2,
            ],
            [
                "does not mention an INCONCLUSIVE run before",
                [
                    ["INCONCLUSIVE", 3],
                    ["PASSED", 2],
                ],
                "PASSED",
                2,
            ],
            [
                "is not changed by ABORTED runs",
                [
                    ["PASSED", 3],
                    ["ABORTED", 2],
                ],
                "PASSED",
                3,
            ],
            [
                "is the worst of several experiments",
                [
                    ["FAILED", 3, "a"],
                    ["PASSED", 2, "b"],
                ],
                "FAILED",
                3,
            ],
            [
                "is not good while one experiment has shown nothing",
                [
                    ["INCONCLUSIVE", 3, "a"],
                    ["PASSED", 2, "b"],
                ],
                "INCONCLUSIVE",
                3,
            ],
            [
                "is as old as the oldest of several experiments",
                [
                    ["PASSED", 41, "a"],
                    ["PASSED", 2, "b"],
                ],
                "PASSED",
                41,
            ],
            [
                "is not INCONCLUSIVE since, if the same experiment PASSED since",
                [
                    ["PASSED", 41, "a"],
                    ["INCONCLUSIVE", 3, "b"],
                    ["PASSED", 2, "b"],
                ],
                "PASSED",
                41,
            ],
            [
                "is not INCONCLUSIVE since, if it FAILED since",
                [
                    ["PASSED", 4, "a"],
                    ["INCONCLUSIVE", 3, "a"],
                    ["FAILED", 2, "b"],
                ],
                "FAILED",
                2,
            ],
        ],
    )("%s", (_, runs, verdict, daysAgo, isInconclusiveSince = false) => {
        const { edges } = triedEdges(
            runs.map(([verdict, daysAgo, experiment]) => made({ verdict, daysAgo, experiment })),
        );
        const [{ last, ...edge }] = edges as [(typeof edges)[number]];
        expect([last?.journal.conclusion.verdict, last && (now - last.startedAt) / day]).toEqual([verdict, daysAgo]);
        expect(edge).toMatchObject({ isInconclusiveSince, runs: runs.filter(([one]) => one !== "ABORTED").length });
    });
});

describe("what is shown of the edges", () => {
    const listed = ["gateway", "fashion", "toys", "deals", "db"];
    const calls = [
        ...["fashion", "toys", "deals"].flatMap(
            (one) =>
                [
                    ["gateway", one],
                    [one, "db"],
                ] as const,
        ),
    ];
    const runs = [
        made({ experiment: "deals-lost", target: deployment("deals"), verdict: "FAILED", daysAgo: 4, listed }),
        made({ experiment: "deals-lost", target: deployment("deals"), verdict: "INCONCLUSIVE", daysAgo: 3 }),
        made({ experiment: "toys-lost", target: deployment("toys"), daysAgo: 41.5 }),
        made({
            experiment: "toys-slow",
            target: deployment("toys"),
            daysAgo: 2,
            attack: { kind: "fault", service: "toys", delay: "1s" },
        }),
        made({ experiment: "gateway-lost", target: deployment("gateway"), verdict: "INCONCLUSIVE", daysAgo: 0.1 }),
    ];

    it("is a table in a terminal, with what is to be done first, and a summary without a score", () => {
        expect(triedLines(runs, calls, now)).toEqual([
            "CALLER        CALLEE        TRIED             RUNS  VERDICT                     AGE      EXPERIMENT",
            "demo/gateway  demo/deals    blackhole         2     FAILED, INCONCLUSIVE since  4 days   deals-lost",
            "–             demo/gateway  blackhole         1     INCONCLUSIVE                2 hours  gateway-lost",
            "demo/deals    demo/db       never",
            "demo/fashion  demo/db       never",
            "demo/toys     demo/db       never",
            "demo/gateway  demo/fashion  never",
            "demo/gateway  demo/toys     blackhole, fault  2     PASSED                      41 days  toys-lost",
            "7 edges, 3 tried: 1 PASSED, 1 FAILED, 1 INCONCLUSIVE; oldest 41 days; 4 never",
        ]);
    });

    it("says which namespaces nothing is known of, and of what it knows nothing", () => {
        expect(triedLines([made({})], [], now).slice(2)).toEqual([
            "1 edge, 1 tried: 1 PASSED; oldest 1 day",
            "No journal lists the workloads in demo, so what was never tried there is not known",
        ]);
        expect(triedLines([made({ actions: [], listed: ["api"] })], [], now).at(-1)).toBe("1 edge, 0 tried; 1 never");
        expect(triedLines([], [], now)).toEqual(["0 edges, 0 tried"]);
    });

    it("has a column for what the answers show, if journals say so", () => {
        const { journal, ...run } = made({ listed: ["api"] });
        const show = (shown: { atLeast?: string; atMost?: string }, checks = journal!.plan.checks.slice(0, 1)) => {
            const [check] = journal!.conclusion.checks;
            const conclusion = {
                ...journal!.conclusion,
                checks: [{ ...check!, bound: { level: "95%", answers: 15, ...shown } }],
            };
            return triedLines(
                [{ ...run, journal: { ...journal!, plan: { ...journal!.plan, checks }, conclusion } }],
                [],
                now,
            );
        };
        expect(show({ atLeast: "81.9%" }).slice(0, 2)).toEqual([
            "CALLER  CALLEE    TRIED      RUNS  VERDICT  BOUND                           AGE    EXPERIMENT",
            "–       demo/api  blackhole  1     PASSED   95% confidence: at least 81.9%  1 day  lost",
        ]);
        expect(show({ atMost: "18.1%" })[1]).toContain("  95% confidence: at most 18.1%  ");
        const several = [...journal!.plan.checks, ...journal!.plan.checks];
        expect(show({ atLeast: "81.9%" }, several)[0]).not.toContain("BOUND");
    });

    it("is JSON for programs", () => {
        const { edges, ...rest } = JSON.parse(triedJson(runs, calls, now));
        expect(rest).toEqual({ at: now, summary: expect.stringMatching(/^7 edges, /), unlisted: [] });
        expect(edges[0]).toEqual({
            caller: "demo/gateway",
            callee: "demo/deals",
            kinds: ["blackhole"],
            runs: 2,
            verdict: "FAILED",
            isInconclusiveSince: true,
            experiment: "deals-lost",
            startedAt: now - 4 * day,
            journal: journal.conclusion.journal,
        });
        expect(edges[2]).toEqual({
            caller: "demo/deals",
            callee: "demo/db",
            kinds: [],
            runs: 0,
            isInconclusiveSince: false,
        });
    });

    it("is a table on the page of all runs, with links to the runs that count, and the time of writing", () => {
        const page = indexPage(runs, "reports", calls, now);
        const section = /<h2>Callers and callees<\/h2>.*?<\/table>/s.exec(page)![0];
        expect(section).toContain("As of 2026-11-29 00:00");
        expect(section).toContain("7 edges, 3 tried: 1 PASSED, 1 FAILED, 1 INCONCLUSIVE; oldest 41 days; 4 never");
        expect(count(section, /<th scope="row">/g)).toBe(14);
        expect(count(section, /<th scope="col">/g)).toBe(7);
        expect(section).toMatch(
            /<td class="verdict FAILED"><a href="[^"]+\.html">FAILED, INCONCLUSIVE since<\/a><\/td>/,
        );
        expect(indexPage([made({ actions: [] })], "")).not.toContain("Callers and callees");
        expect(indexPage([made({})], "")).toContain("No journal lists the workloads in demo");
    });
});
