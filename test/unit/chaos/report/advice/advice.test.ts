import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { split } from "shlex";
import { describe, expect, it } from "vitest";
import type { AdviceKind } from "../../../../../chaos/report/advice/advice-kind";
import type { Facts } from "../../../../../chaos/report/advice/facts";
import { adviceOn } from "../../../../../chaos/report/advice/registry";
import { adviceLines } from "../../../../../chaos/report/conclusion";
import type { Journal } from "../../../../../chaos/report/journal-schema";
import { timelineSvg } from "../../../../../chaos/report/timeline";
import { judgeChecks } from "../../../../../chaos/report/judged-check";
import { runPage } from "../../../../../chaos/report/run-page";
import { deployed, type Deployed, pod, runThat, type Seen } from "./support";

const given = (seen: Seen, cluster: Deployed) => adviceOn(runThat(seen), deployed(cluster));
/** What a patch in a command says. */
const patchIn = (command: string) => JSON.parse(split(command).at(-1)!);

/** The only pod was cut off, was not ready from 3.4 s on, and no request succeeded. */
const cutOff: Seen = {
    readiness: [
        [-5, pod(1), true],
        [3.4, pod(1), false],
    ],
    failed: [[0, 20]],
};

/** The only pod was deleted at once and again at 10 s; each replacement was ready after 3 s. */
const deletedTwice: Seen = {
    attack: { kind: "kill", intervalMs: 10_000 },
    kills: [
        [-0.2, pod(1)],
        [10, pod(2)],
    ],
    readiness: [
        [-5, pod(1), true],
        [0.5, pod(1), false],
        [3, pod(2), true],
        [10.4, pod(2), false],
        [13, pod(3), true],
    ],
    // Services lead to a ready pod a moment later.
    failed: [
        [0, 3],
        [10, 13.1],
    ],
    graceMs: 0,
};

/** One of three pods was cut off, and left its Service only after 15.2 s. */
const leftLate: Seen = {
    readiness: [1, 2, 3]
        .map((number) => [-5, pod(number), true] as [number, string, boolean])
        .concat([[15.2, pod(1), false]]),
    failed: [[0, 16]],
};
const slowProbe: Deployed = { replicas: 3, container: { readinessProbe: { periodSeconds: 5 } } };

/** Both pods were in the zone that was cut off. */
const zoneGone: Seen = {
    target: "k8s.zone=zone-a,k8s.deployment=hot-deals,k8s.namespace=demo",
    radius: { kind: "all" },
    targets: [pod(1), pod(2)],
    readiness: [
        [-5, pod(1), true],
        [-5, pod(2), true],
        [3, pod(1), false],
        [3.5, pod(2), false],
    ],
    failed: [[0, 20]],
};
const inZone: Deployed = { replicas: 2, otherNodes: 1 };

/** Both pods were evicted at once; the replacements were ready after 4 s. */
const evicted: Seen = {
    attack: { kind: "kill", by: "eviction", intervalMs: 60_000 },
    radius: { kind: "all" },
    targets: [pod(1), pod(2)],
    kills: [
        [0.1, pod(1)],
        [0.3, pod(2)],
    ],
    readiness: [
        [-5, pod(1), true],
        [-5, pod(2), true],
        [4, pod(3), true],
        [4.5, pod(4), true],
    ],
    failed: [[0.5, 4]],
    graceMs: 0,
};
const two: Deployed = { replicas: 2 };

/** One of two pods was deleted, twice; each replacement counted as ready after 1 s. */
const deletedInTurn: Seen = {
    attack: { kind: "kill", intervalMs: 10_000 },
    kills: [
        [-0.2, pod(1)],
        [10, pod(2)],
    ],
    readiness: [
        [-5, pod(1), true],
        [-5, pod(2), true],
        [0, pod(1), false],
        [1, pod(3), true],
        [10.2, pod(2), false],
        [11, pod(4), true],
    ],
    graceMs: 0,
};
/** Requests failed until Services led to the other pod only. */
const stoppedAtOnce: Seen = {
    ...deletedInTurn,
    failed: [
        [0, 0.5],
        [10, 10.5],
    ],
};
const probed: Deployed = { replicas: 2, container: { readinessProbe: {} } };
/** Requests failed until the replacements served. */
const readyTooSoon: Seen = {
    ...deletedInTurn,
    failed: [
        [0, 2.5],
        [10, 12.5],
    ],
};
const unprobed: Deployed = { replicas: 2, container: { ports: [{ containerPort: 8080 }] } };

/** A run after which an advice is given, by the advice's file, in the order of the registry. */
const examples: Record<string, Example> = {
    "one-replica": { change: "more replicas", seen: cutOff, cluster: {} },
    "slow-readiness": {
        change: "a quicker readiness probe",
        seen: leftLate,
        cluster: slowProbe,
    },
    "one-zone": {
        change: "replicas spread by a label",
        seen: zoneGone,
        cluster: inZone,
    },
    "no-budget": { change: "a PodDisruptionBudget", seen: evicted, cluster: two },
    "no-readiness-probe": {
        change: "a readiness probe",
        seen: readyTooSoon,
        cluster: unprobed,
    },
    "stops-at-once": { change: "a `preStop` hook", seen: stoppedAtOnce, cluster: probed },
};

interface Example {
    /** What the row of the table in docs/experiments.md begins with. */
    change: string;
    seen: Seen;
    cluster: Deployed;
}

/** What the cluster says of the Deployment once a command of an advice has run. */
function after(command: string, facts: Facts): Facts {
    return command.split(" && ").reduce((before, part) => {
        const words = split(part).slice(5);
        const option = (name: string) => words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
        switch (words[0]) {
            case "scale":
                return { ...before, spec: { ...before.spec, replicas: Number(option("replicas")) } };
            case "create": {
                const [key, value] = option("selector")!.split("=");
                const spec = { selector: { matchLabels: { [key!]: value! } } };
                return { ...before, budgets: [...before.budgets!, { metadata: { name: words[2] }, spec }] };
            }
            default:
                return { ...before, spec: merged(before.spec, patchIn(part).spec) as Facts["spec"] };
        }
    }, facts);
}

/** As kubectl patches a Deployment: containers by their names. */
function merged(before: unknown, patch: unknown): unknown {
    if (Array.isArray(before) && Array.isArray(patch))
        return before.map((one: { name?: string }) =>
            merged(one, patch.find(({ name }: { name?: string }) => name !== undefined && name === one.name) ?? {}),
        );
    if (typeof before !== "object" || before === null || Array.isArray(patch)) return patch;
    const changes = Object.entries(patch as object).map(([key, value]) => [
        key,
        merged((before as Record<string, unknown>)[key], value),
    ]);
    return { ...before, ...Object.fromEntries(changes) };
}

describe("each advice", () => {
    const project = resolve(__dirname, "../../../../..");
    const textOf = (...path: string[]) => readFileSync(join(project, ...path), "utf8");
    const folder = "chaos/report/advice";
    const files = readdirSync(join(project, folder)).map((file) => file.replace(/\.ts$/, ""));
    const advices = files.filter((file) => /^export const \w+: AdviceKind\b/m.test(textOf(folder, `${file}.ts`)));

    const nameOf = (file: string) => file.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

    it("has a file, and an example here", () => expect(Object.keys(examples).sort()).toEqual(advices.sort()));

    it("is in the registry: it alone is given after its example", async () => {
        for (const [file, { seen, cluster }] of Object.entries(examples)) {
            const exported = (await import(join(project, folder, `${file}.ts`))) as Record<string, AdviceKind>;
            const kind = exported[nameOf(file)];
            expect(given(seen, cluster)).toEqual([
                { ...kind!(runThat(seen), deployed(cluster)), experiment: expect.any(String) as string },
            ]);
        }
    });

    it("has its row under What would have passed", () => {
        const [, section] = textOf("docs/experiments.md").split("### What would have passed");
        const rows = section!
            .split("\n### ")[0]!
            .match(/^\| .*$/gm)!
            .slice(2);
        const changes = rows.map((row) => row.split("|")[1]!.trim());
        expect(changes).toEqual(Object.values(examples).map(({ change }) => change));
    });

    it("flips a verdict in test/e2e/all/advice.test.ts, or on two nodes", () => {
        const cases = textOf("test/e2e/all/advice.test.ts");
        const others = advices.filter((file) => !cases.includes(`const ${nameOf(file)}: Case`));
        expect(others).toEqual(["one-zone"]);
        expect(textOf("test/e2e/two-nodes.test.ts")).toContain("once the advice's command has spread them");
    });

    it.each(Object.entries(examples))("%s is not given again once its command has run", (_file, { seen, cluster }) => {
        const [advice] = given(seen, cluster);
        expect(adviceOn(runThat(seen), after(advice!.command, deployed(cluster)))).toEqual([]);
    });
});

describe("after a FAILED, advice says what was seen, the change, and how to show it", () => {
    it("one replica that was cut off and left its Service", () =>
        expect(given(cutOff, {})).toEqual([
            {
                seen:
                    `Deployment hot-deals had 1 replica, ${pod(1)}. Under attack, it had no ready pod for 16.1 s, ` +
                    "and 0 of 30 requests to /products succeeded in that time",
                change: "Run 2 replicas, if several pods of hot-deals may run at once",
                command: "kubectl --context kind --namespace demo scale deployment hot-deals --replicas=2",
                experiment: "pulumi config set experiment.run '1 again' && pulumi up",
            },
        ]));

    it("one replica that was killed: another one, and both must stop gracefully", () => {
        const [advice, ...others] = given(deletedTwice, {});
        expect(others).toEqual([]);
        expect(advice!.seen).toBe(
            `Deployment hot-deals had 1 replica, ${pod(1)}. Under attack, it had no ready pod for 6 s, and 0 of 12 ` +
                "requests to /products succeeded in that time",
        );
        expect(patchIn(advice!.command)).toEqual({
            spec: {
                replicas: 2,
                template: {
                    spec: { containers: [{ name: "app", lifecycle: { preStop: { sleep: { seconds: 5 } } } }] },
                },
            },
        });
    });

    it("a pod that left its Service later than the grace period", () => {
        const [advice, ...others] = given(leftLate, slowProbe);
        expect(others).toEqual([]);
        expect(advice!.seen).toBe(
            `${pod(1)} stayed ready until 15.2 s after the attack was proven: the readiness probe of app is sent ` +
                "every 5 s, and must fail 3 times. After the grace period and until 1 s later, 1 of 23 requests to " +
                "/products succeeded; then 7 of 7 requests to /products succeeded",
        );
        expect(patchIn(advice!.command)).toEqual({
            spec: {
                template: {
                    spec: {
                        containers: [{ name: "app", readinessProbe: { periodSeconds: 1, failureThreshold: 3 } }],
                    },
                },
            },
        });
    });

    it("one replica that was killed before the readiness of pods was first read: it was still ready then", () => {
        const readiness = deletedTwice.readiness!.map(([at, name, ready], index): [number, string, boolean] => [
            index === 0 ? -0.1 : at,
            name,
            ready,
        ]);
        expect(given({ ...deletedTwice, readiness }, {})).toHaveLength(1);
    });

    it("pods that were not ready, and a request that was sent before the next removal and failed after it", () => {
        const kills: Seen["kills"] = [
            [-0.2, pod(1)],
            [10.2, pod(2)],
        ];
        expect(given({ ...readyTooSoon, kills, latencyMs: 300 }, unprobed)).toHaveLength(1);
    });

    it("all replicas in one zone of several", () => {
        const [advice, ...others] = given(zoneGone, inZone);
        expect(others).toEqual([]);
        expect(advice!.seen).toBe(
            "All 2 replicas of Deployment hot-deals ran on nodes with k8s.zone zone-a, and 1 node has " +
                "another. Under attack, it had no ready pod for 16 s, and 0 of 30 requests to /products succeeded in " +
                "that time",
        );
        expect(patchIn(advice!.command).spec.template.spec.topologySpreadConstraints).toEqual([
            {
                topologyKey: "topology.kubernetes.io/zone",
                maxSkew: 1,
                whenUnsatisfiable: "DoNotSchedule",
                labelSelector: { matchLabels: { app: "hot-deals" } },
                matchLabelKeys: ["pod-template-hash"],
            },
        ]);
    });

    it("all pods evicted at once, and no budget", () => {
        const [advice, ...others] = given(evicted, two);
        expect(others).toEqual([]);
        expect(advice!.seen).toBe(
            "All 2 pods of Deployment hot-deals were evicted within 200 ms; no PodDisruptionBudget selects them. It " +
                "had no ready pod for 3.7 s, and 0 of 7 requests to /products succeeded in that time",
        );
        const kubectl = "kubectl --context kind --namespace demo";
        const [budget, patch] = advice!.command.split(" && ");
        expect(split(budget!).join(" ")).toBe(
            `${kubectl} create poddisruptionbudget hot-deals --selector=app=hot-deals --max-unavailable=1`,
        );
        expect(patch).toMatch(`${kubectl} patch deployment hot-deals --patch '{"spec":{"template":`);
    });

    it("pods that stop at once", () => {
        const [advice, ...others] = given(stoppedAtOnce, probed);
        expect(others).toEqual([]);
        expect(advice).toMatchObject({
            seen:
                "2 pods of Deployment hot-deals were removed while others were ready. For up to 201 ms after that, 0 " +
                "of 2 requests to /products succeeded; at other times, 38 of 38 requests to /products succeeded. " +
                "There is no preStop hook in app",
            change: "Let each pod serve for 5 s while it stops",
        });
        expect(patchIn(advice!.command)).toEqual({
            spec: {
                template: {
                    spec: { containers: [{ name: "app", lifecycle: { preStop: { sleep: { seconds: 5 } } } }] },
                },
            },
        });
    });

    it("replacements that counted as ready before they served", () => {
        const [advice, ...others] = given(readyTooSoon, unprobed);
        expect(others).toEqual([]);
        expect(advice).toMatchObject({
            seen:
                "2 pods of Deployment hot-deals were removed while others were ready. For up to 2.2 s after that, 0 " +
                "of 10 requests to /products succeeded; at other times, 30 of 30 requests to /products succeeded. " +
                "The replacements counted as ready without a probe",
            change: expect.stringMatching(
                /^Have pods be ready once they accept connections to port 8080, and let each serve/,
            ),
        });
        expect(patchIn(advice!.command).spec.template.spec.containers).toEqual([
            {
                name: "app",
                readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
                lifecycle: { preStop: { sleep: { seconds: 5 } } },
            },
        ]);
    });

    it("only containers without a hook get one", () => {
        const hooked = { name: "proxy", lifecycle: { preStop: { exec: { command: ["sleep", "3"] } } } };
        const template = { containers: [{ name: "app" }, hooked] };
        const [advice] = given(deletedTwice, { template });
        expect(patchIn(advice!.command).spec.template.spec.containers).toEqual([
            { name: "app", lifecycle: { preStop: { sleep: { seconds: 5 } } } },
        ]);
    });

    it("a request that was on its way when its pod was killed counts as one of the time without it", () => {
        const failed: Seen["failed"] = [
            [0, 3],
            [9.5, 13.1],
        ];
        expect(given({ ...deletedTwice, failed, latencyMs: 600 }, {})).toHaveLength(1);
        expect(given({ ...deletedTwice, failed, latencyMs: 400 }, {})).toEqual([]);
    });

    it("only pods of the attacked ReplicaSet count, whatever other names begin with the Deployment's", () => {
        const ofCronJob: [number, string, boolean] = [-5, "hot-deals-29384750-x7k2p", true];
        expect(given({ ...cutOff, readiness: [ofCronJob, ...cutOff.readiness!] }, {})).toHaveLength(1);
    });

    it.each([
        ["scale deployment hot-deals --replicas=2", deletedTwice, {}],
        ["create poddisruptionbudget hot-deals --selector=app=hot-deals --max-unavailable=1", evicted, two],
    ])("pods that have a hook for stopping need no other: %s", (command, seen, cluster) => {
        const container = { lifecycle: { preStop: { exec: { command: ["sleep", "3"] } } } };
        const [advice] = given(seen, { ...cluster, container });
        expect(split(advice!.command).join(" ")).toBe(`kubectl --context kind --namespace demo ${command}`);
        expect(advice!.change).not.toContain("stops");
    });

    it("a program's run is repeated in the program", () =>
        expect(
            adviceOn({ ...runThat(cutOff), plan: { ...runThat(cutOff).plan, settings: undefined } }, deployed({})),
        ).toEqual([
            expect.objectContaining({ experiment: "set `run` to another text in the program, then update the stack" }),
        ]));
});

describe("a run with more answers than a function may have arguments", () => {
    const long = (seen: Seen, lastBad: number) => {
        const journal = runThat(seen);
        const answers = Array.from({ length: 130_000 }, (_, index) => ({
            at: journal.attackedAt! + index * 20,
            latencyMs: 5,
            good: index > lastBad,
            stalledMs: 200,
        }));
        return { ...journal, endedAt: answers.at(-1)!.at, checks: [{ ...journal.checks[0]!, answers }] };
    };

    it("has its advice", () => {
        expect(adviceOn(long(cutOff, Infinity), deployed({}))).toHaveLength(1);
        const removedOnce: Seen = { ...readyTooSoon, kills: [[-0.2, pod(1)]] };
        expect(adviceOn(long(removedOnce, 129_900), deployed(unprobed))).toHaveLength(1);
    });

    it("has its verdict and timeline", () => {
        const journal = long(cutOff, Infinity);
        expect(judgeChecks(journal)[0]).toMatchObject({ held: false, measured: { late: { forMs: 200 } } });
        expect(timelineSvg(journal)).toContain("</svg>");
    });
});

/** All latencies are 300 ms under attack, and were 5 ms: the check fails by that limit, too. */
function slowed(seen: Seen): Journal {
    const journal = runThat({ ...seen, latencyMs: 300 });
    const [check] = journal.plan.checks;
    const limits = [{ of: "p50" as const, atMostMoreMs: 10 }] satisfies [unknown];
    return {
        ...journal,
        plan: { ...journal.plan, checks: [{ ...check!, intervalMs: 500, limits }] },
        baseline: [{ name: check!.name, at: 1, outcomes: Array<number>(40).fill(5) }],
    };
}

describe("there is no advice about slow answers: what would have been the change is not known", () => {
    it.each(Object.entries(examples))("%s", (_file, { seen, cluster }) => {
        for (const failed of [[], seen.failed ?? []])
            expect(adviceOn(slowed({ ...seen, failed: [...failed] }), deployed(cluster))).toEqual([]);
        expect(given({ ...seen, latencyMs: 300 }, cluster)).not.toEqual([]);
    });
});

it("there is no advice on a run that an abort rule ended with enough good answers, at another time", () => {
    const { readiness: _, ...staysReady } = cutOff;
    const journal = runThat({ ...staysReady, successRate: 0.5, failed: [[10, 12]] });
    const rule = { rate: "0%", answers: 4, below: "50%", overMs: 2_000 };
    const aborted = { check: journal.checks[0]!.name, afterMs: 12_000, ...rule };
    expect(adviceOn({ ...journal, aborted }, deployed({}))).toEqual([]);
});

it("an advice that cannot be given costs neither the others nor the verdict", () => {
    const facts = deployed(slowProbe);
    const withoutTemplate = { ...facts, spec: { ...facts.spec, template: undefined as never } };
    expect(adviceOn(runThat(leftLate), withoutTemplate)).toEqual([]);
});

describe("there is no advice", () => {
    const replaced = (changes: Partial<Seen>, seen: Seen): Seen => ({ ...seen, ...changes });

    it.each<[string, Seen, Deployed]>([
        ["if the run passed", replaced({ verdict: "PASSED" }, cutOff), {}],
        ["if there is no verdict", replaced({ verdict: "INCONCLUSIVE" }, cutOff), {}],
        ["if it is not known when the pods were ready", replaced({ defaultNamespace: "other" }, cutOff), {}],
        ["if an action may be the cause", replaced({ actions: [{ kind: "wait", durationMs: 1 }] }, cutOff), {}],
        [
            "if the only pod stayed ready: its Service would lead to it",
            replaced({ readiness: [[-5, pod(1), true]] }, cutOff),
            {},
        ],
        ["if requests failed long after the replacement was ready", replaced({ failed: [[0, 15]] }, deletedTwice), {}],
        ["if requests failed before it left its Service, too", replaced({ graceMs: 2_000 }, cutOff), {}],
        ["to run more pods that must not run at once", cutOff, { strategy: "Recreate" }],
        [
            "to run more pods that share a volume",
            cutOff,
            { template: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] } },
        ],
        [
            "to run more pods that share the ports of a node",
            cutOff,
            { container: { ports: [{ containerPort: 8080, hostPort: 80 }] } },
        ],
        ["to run more pods that use a node's network", cutOff, { template: { hostNetwork: true } }],
        ["to run more pods if an autoscaler has set how many", cutOff, { isScaled: true }],
        ["if a change of the template would wait", leftLate, { ...slowProbe, paused: true }],
        ["to run more pods if all are attacked", replaced({ radius: { kind: "all" } }, cutOff), {}],
        ["to run more pods if there were two", cutOff, { replicas: 2 }],
        [
            "if the pod answers slowly, ready or not",
            replaced({ attack: { kind: "fault", service: "hot-deals", delay: "2s" } }, cutOff),
            {},
        ],
        [
            "if pods would have to stop gracefully, and must stop sooner",
            deletedTwice,
            { template: { terminationGracePeriodSeconds: 5 } },
        ],
        [
            "about a probe that is quick",
            leftLate,
            { replicas: 3, container: { readinessProbe: { periodSeconds: 1, failureThreshold: 2 } } },
        ],
        [
            "about a probe that takes longer than seen",
            leftLate,
            { replicas: 3, container: { readinessProbe: { periodSeconds: 20 } } },
        ],
        ["about a probe that there is not", leftLate, { replicas: 3 }],
        ["about a probe if the grace period is too short for any", replaced({ graceMs: 1_000 }, leftLate), slowProbe],
        ["about a probe if requests went on failing", replaced({ failed: [[0, 20]] }, leftLate), slowProbe],
        ["to spread pods if there is no other node", zoneGone, { ...inZone, otherNodes: 0 }],
        ["to spread pods if some ran elsewhere", zoneGone, { ...inZone, replicas: 3 }],
        [
            "to spread pods that must run on these nodes",
            zoneGone,
            { ...inZone, template: { nodeSelector: { "topology.kubernetes.io/zone": "zone-a" } } },
        ],
        [
            "to spread pods that are spread already, as far as nodes take them",
            zoneGone,
            {
                ...inZone,
                template: {
                    topologySpreadConstraints: [
                        { topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule" },
                    ],
                },
            },
        ],
        ["to spread pods if they stayed ready", replaced({ readiness: [] }, zoneGone), inZone],
        ["to stop later if requests failed for long", replaced({ failed: [[0, 4]] }, stoppedAtOnce), probed],
        ["to stop later if requests failed at other times", replaced({ failed: [[5, 6]] }, stoppedAtOnce), probed],
        ["to stop later if they failed until the end", replaced({ failed: [[18.5, 20]] }, stoppedAtOnce), probed],
        [
            "to stop later if pods have a hook for that",
            stoppedAtOnce,
            { ...probed, container: { readinessProbe: {}, lifecycle: { preStop: { sleep: { seconds: 1 } } } } },
        ],
        ["to stop later if nothing says when the replacements serve", stoppedAtOnce, two],
        [
            "about a probe if replacements were not ready by then",
            replaced({ failed: [[0, 0.5]] }, readyTooSoon),
            unprobed,
        ],
        [
            "about a probe if it is not known at which port pods serve",
            readyTooSoon,
            { ...two, container: { ports: [{ containerPort: 80 }, { containerPort: 9090 }] } },
        ],
        [
            "about a readiness probe if another one says when containers have started",
            readyTooSoon,
            { ...two, container: { ports: [{ containerPort: 80 }], startupProbe: {} } },
        ],
        [
            "to add a budget if one selects the pods",
            evicted,
            { ...two, budgets: [{ metadata: { name: "b" }, spec: { selector: { matchLabels: { tier: "web" } } } }] },
        ],
        [
            "to add a budget if there is one of that name",
            evicted,
            { ...two, budgets: [{ metadata: { name: "hot-deals" } }] },
        ],
        ["to add a budget if they cannot be listed", evicted, { ...two, budgets: undefined }],
        [
            "to add a budget, which stops no deletion",
            replaced({ attack: { kind: "kill", intervalMs: 60_000 } }, evicted),
            two,
        ],
        [
            "to add a budget if one was evicted after the other",
            replaced(
                {
                    kills: [
                        [0.1, pod(1)],
                        [2, pod(2)],
                    ],
                },
                evicted,
            ),
            two,
        ],
    ])("%s", (_, seen, cluster) => expect(given(seen, cluster)).toEqual([]));

    it("if the cluster does not say what is attacked", () => expect(adviceOn(runThat(cutOff), undefined)).toEqual([]));
});

it("is printed after the verdict, and is on the page, as text", () => {
    const journal = runThat(cutOff);
    const advice = adviceOn(journal, deployed({}));
    expect(adviceLines({ advice })).toEqual([
        `What was seen: ${advice[0]!.seen}`,
        `What may help: ${advice[0]!.change}: ${advice[0]!.command}`,
        `To show it: ${advice[0]!.experiment}`,
    ]);
    expect(adviceLines({})).toEqual([]);
    const page = runPage({ ...journal, conclusion: { ...journal.conclusion, advice } });
    expect(page).toContain(`<pre>${advice[0]!.command}</pre>`);
    expect(page).toContain("'1 again' &amp;&amp; pulumi up");
    expect(runPage(journal)).not.toContain("To show it");
});
