import * as pulumi from "@pulumi/pulumi";
import { randomBytes } from "node:crypto";
import { execSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as client from "../../../chaos/cluster/client";
import { type DefinedExperiment, planOfArguments } from "../../../chaos/definition/arguments";
import * as endRun from "../../../chaos/ending/end-run";
import { Experiment, type ExperimentArgs } from "../../../chaos/face/experiment";
import { FirstActs } from "../../../chaos/face/first-acts";
import { shellQuoted } from "../../../chaos/pods/built-programs";
import { askedVariable, type AskedRun } from "../../../chaos/run/asked-run";
import { fromVariable, inputFrom, inputVariables } from "../../../chaos/run/contract";
import { type Asked, find, inState, kinds, leftOut, recordGraph, secretMark, unhandledErrors } from "./support";
import { packed } from "../../../chaos/pods/packed";
import { kubeconfigOf } from "../../support/kubeconfig";
import { scratchFolder } from "../../support/scratch";
import { type Served, servingObjects } from "../../support/serving";

/** With a login; by default of a cluster that does not answer. */
const kubeconfig = (context: string, server = "https://127.0.0.1:1") =>
    kubeconfigOf(context, server).replace('"user":{}', '"user":{"token":"a-secret-token"}');

const args: ExperimentArgs = {
    enabled: true,
    kubeconfig: kubeconfig("anything"),
    hypothesis: "Messages are accepted.",
    attacks: [{ kind: "blackhole", target: "k8s.statefulset=nats,k8s.namespace=messaging" }],
    checks: [{ kind: "http", service: "nats", port: 8222, path: "/healthz" }],
    programs: () => ({
        stepCommand: "node steps.js",
        steps: packed("void 'steps';"),
        deadline: "void 'Job';",
        proxy: "void 'proxy';",
        sender: "void 'sender';",
    }),
};
const names = ["it", "one", "two"];
const urnOf = (name: string) =>
    `urn:pulumi:local::chaos-shop::chaos-experiments:index:Experiment$command:local:Command::${name}-steady-state`;
const found: Record<string, object> = {
    ...Object.fromEntries(
        names.flatMap((name) => [
            [`${name}-targets`, { attacks: [{ name: "blackhole", matching: 1, targets: [] }] }],
            [`${name}-check`, { verdict: "PASSED" }],
        ]),
    ),
    [inState]: Object.fromEntries(names.map((name) => [urnOf(name), {}])),
};
const build = (changes: object = {}, names = ["it"], isPreview = false) =>
    recordGraph(
        async () => names.forEach((name) => new Experiment(name, { ...args, ...changes })),
        isPreview ? {} : found,
        isPreview,
    );
/** Builds several experiments, each with its changes. @returns the steps that were begun, and the errors */
async function refused(experiments: Record<string, object>, isPreview = false) {
    const asked: Asked[] = [];
    const program = async () =>
        Object.entries(experiments).forEach(([name, changes]) => new Experiment(name, { ...args, ...changes }));
    const errors = await unhandledErrors(() => recordGraph(program, found, isPreview, asked));
    return { begun: steps(asked), errors: errors.map(({ message }) => message) };
}
/** The one error of a program. */
async function errorOf(changes: object, name = "it"): Promise<string> {
    const { begun, errors } = await refused({ [name]: changes });
    expect(begun).toEqual([]);
    expect(errors).toHaveLength(1);
    return errors[0]!;
}

const folder = scratchFolder();
let told: string[];
beforeEach(() => {
    told = [];
    for (const level of ["info", "warn"] as const)
        vi.spyOn(pulumi.log, level).mockImplementation(async (message) => void told.push(`${level}: ${message}`));
});
afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
});

/** The kubeconfig of this machine. */
function useAmbient(context: string, server: string): void {
    writeFileSync(join(folder, "config"), kubeconfig(context, server));
    vi.stubEnv("KUBECONFIG", join(folder, "config"));
}

const steps = (asked: readonly Asked[]) => asked.filter(({ type }) => type === kinds.command);
const inputIn = (asked: readonly Asked[]) => inputFrom(find(asked, kinds.command, "it-check").environment);
const planIn = (asked: readonly Asked[]) => inputIn(asked).plan;

describe("mistakes in the arguments", () => {
    it("are told all at once, with their places and what is allowed", async () => {
        const wrong = {
            hypothesis: "",
            interval: 5,
            attacks: [{ kind: "blackhole", target: "k8s.statefulset=nats", radius: "0%" }],
            checks: [],
            window: { duration: "2 minutes", length: "1s" },
            deadline: "1s",
            successRate: "99",
            confidence: { atLeast: "100%" },
            colour: "red",
        };
        const error = await errorOf(wrong);
        for (const place of [
            "interval: 5 is not allowed; allowed: a duration from ",
            "hypothesis",
            "attacks.0.radius",
            "checks",
            "window.duration",
            "deadline",
            "successRate",
            "confidence.atLeast",
        ])
            expect(error).toMatch(new RegExp(`^  ${place}\\b`, "m"));
        expect(error).toMatch(/the experiment it has \d+ mistakes:[^]*"colour"/);
        expect(error).toMatch(/"length"/);
    });

    it.each([
        [
            "allowed: 100000",
            { checks: [{ kind: "http", path: "/", url: "http://a", body: { text: "x".repeat(100_000) } }] },
        ],
        [
            "checks.0.path: must not have the segments",
            { checks: [{ kind: "http", service: "a", path: "/../secrets/b" }] },
        ],
        ["checks: without a check there is no verdict", { checks: [] }],
        ["checks: is missing; allowed: ", { checks: undefined }],
        [
            "must be in one namespace",
            { attacks: ["a", "b"].map((n) => ({ kind: "dns", target: `k8s.job=j,k8s.namespace=${n}` })) },
        ],
        ["no target names a namespace", { attacks: [{ kind: "dns", target: "k8s.statefulset=nats" }] }],
        ["namespace: is missing; name the namespace of the checks", { attacks: [] }],
        ["window.grace: without an attack, all answers count", { attacks: undefined, window: { grace: "5s" } }],
        ["deadline: it would come before the checks end", { deadline: "30s" }],
        [
            "window.duration: grace and duration are 4s in total, too short to show that established connections",
            {
                attacks: [{ kind: "blackhole", target: "k8s.job=j,k8s.namespace=a", established: "cut" }],
                window: { duration: "3s", grace: "1s" },
            },
        ],
        ["interval: no check would send a request", { interval: "1m", window: { duration: "10s" } }],
        ['its name: "It" is not allowed', {}, "It"],
        ["attacks: is an Output; allowed: ", { attacks: pulumi.output([]) }],
        ["interval: a list is not allowed; allowed: a duration", { interval: ["5s"] }],
        ["interval: is an Output; allowed: a plain value", { interval: pulumi.output("1s") }],
        ["checks.0.path: is an Output", { checks: [{ kind: "http", service: "a", path: pulumi.output("/") }] }],
        [
            "would be attacked; for a secret: headersFrom, queryFrom or bodyFrom",
            { checks: [{ kind: "http", service: "a", path: "/", body: { of: pulumi.secret("b") } }] },
        ],
        ['image: "Node Image" is not allowed', { image: "Node Image" }],
        ["image: null is not allowed", { image: null }],
        [
            "pod.labels.chaos-experiments/pass: is set by the experiment",
            { pod: { labels: { "chaos-experiments/pass": "x" } } },
        ],
        [
            "pod.annotations.linkerd.io/inject: is set by the experiment",
            { pod: { annotations: { "linkerd.io/inject": "enabled" } } },
        ],
        ["pod.runAsUser: is 0; allowed: at least 1", { pod: { runAsUser: 0 } }],
        ['pod: there is no field "nodeName" here', { pod: { nodeName: "here" } }],
        ["pod.imagePullSecrets.0: ", { pod: { imagePullSecrets: [{ name: "registry" }] } }],
        [
            'pod.priorityClassName: "High one" is not the name of an object; allowed: lower-case letters',
            { pod: { priorityClassName: "High one" } },
        ],
        ["context: is an Output; allowed: text", { context: pulumi.output("kind-kind") }],
        ['namespace: "Über" is not a namespace', { namespace: "Über" }],
        ["kubeconfig: is 7; allowed: text", { kubeconfig: 7 }],
        ["kubeconfig: is null; allowed: text", { kubeconfig: null }],
        ["kubeconfig: is an object; allowed: text, such as pulumi.jsonStringify(", { kubeconfig: { users: [] } }],
        ["kubeconfig: is an object; allowed: text", { kubeconfig: pulumi.output({ users: [] }) }],
        ["kubeconfig: is undefined; allowed: text", { kubeconfig: pulumi.output(undefined) }],
        [
            "baseline: no check is compared with before the attack; allowed: leave it out, or set latency or",
            { baseline: { duration: "10s" } },
        ],
        [
            "a: confidence: to show 99% with 95% confidence takes 299 good answers, and the window has 30, in 30 s",
            { confidence: { atLeast: "99%" }, checks: [{ kind: "http", service: "a", path: "/", name: "a" }] },
        ],
        ["allowed: above 0", { checks: [{ kind: "http", service: "a", path: "/", successRate: 0 }] }],
    ])("include what is valid only by itself: %s", async (reason, changes, name = "it") => {
        expect(await errorOf(changes, name)).toContain(reason);
    });

    it("include the value of a secret setting, wherever it stands: the state would show it", async () => {
        const checks = [{ kind: "http", service: "a", path: "/", body: { of: ["a customer's name"] } }];
        pulumi.runtime.setAllConfig({ "shop:customer": "a customer's name", "shop:other": "nats" }, ["shop:customer"]);
        try {
            const error = await errorOf({ checks });
            expect(error).toContain(
                "the value of the secret setting shop:customer; secrets must not be in a definition: the state and",
            );
            expect(error).not.toContain("a customer's name");
        } finally {
            pulumi.runtime.setAllConfig({});
        }
        expect((await refused({ it: { checks } })).errors).toEqual([]);
        pulumi.runtime.setAllConfig({ "shop:user": "customer" }, ["shop:user"]);
        // A user's name may be anywhere.
        expect((await refused({ it: { checks } })).errors).toEqual([]);
        pulumi.runtime.setAllConfig({});
    });

    it("are each told once, and together with what is wrong only in relation to another", async () => {
        const check = { kind: "http", path: "/healthz", service: "nats", port: 8222 };
        const error = await errorOf({
            hypothesis: pulumi.output("It works."),
            interval: "1m",
            window: { duration: "45s", length: "1s" },
            actions: [{ kind: "dance" }],
            attacks: [{ kind: "dns", target: "k8s.statefulset=nats" }],
            checks: [check, { kind: "http", status: "200" }, check],
        });
        expect(error.split("\n").map((line) => line.trim().split(": ")[0])).toEqual([
            expect.stringMatching(/the experiment it has \d mistakes/),
            "hypothesis",
            "checks.1.path",
            "checks.1.status",
            "checks.2.name",
            "actions.0.kind",
            "window",
            "namespace",
        ]);
        const wrong = { checks: [], deadline: "30s", window: { duration: "25s" } };
        expect(await errorOf(wrong)).toMatch(/has 2 mistakes:\n  checks: .*\n  deadline: it would come before/);
    });

    it.each([["yes"], ["false"], [1], [pulumi.output(true)]])(
        "include an `enabled` that is no boolean, such as %j: nothing is attacked",
        async (enabled) => {
            expect(await errorOf({ enabled })).toMatch(
                /enabled: is ("yes"|"false"|1|an Output); allowed: true or false/,
            );
        },
    );

    it("of all experiments are told together, in previews too, and then none of them begins", async () => {
        const experiments = { one: { deadline: "1s" }, it: {}, two: { interval: 5 } };
        for (const isPreview of [false, true]) {
            const { begun, errors } = await refused(experiments, isPreview);
            expect(begun).toEqual([]);
            expect(errors).toEqual([
                expect.stringMatching(/experiment one has a mistake:\n  deadline[^]*experiment two has a mistake/),
            ]);
        }
    });

    it("do not keep another experiment's attacks from their end, wherever it is in the program", async () => {
        const off = { enabled: false };
        const { errors } = await refused({ one: off, it: { deadline: "1s" }, two: off });
        expect(errors).toEqual([expect.stringContaining("deadline")]);
        for (const name of ["one", "two"])
            expect(told).toContainEqual(expect.stringContaining(`The attacks of ${name} could not be ended first`));
    });

    it("of a program are no other's that the same process runs next", async () => {
        await errorOf({ deadline: "1s" });
        expect(steps(await build())).toHaveLength(4);
    });

    it("do not keep a disabled experiment from being undone: they are warnings", async () => {
        const asked = await build({ enabled: false, checks: [] });
        expect(steps(asked)).toEqual([]);
        expect(told[0]).toMatch(/^warn: the experiment it has a mistake/);
        expect(told.at(-1)).toMatch(/^warn: The attacks of it could not be ended first: .*refuses connections/);
    });
});

it("ends attacks before what the experiment depends on is ready: it may not become so under them", async () => {
    let ready!: (resource: pulumi.Resource) => void;
    const dependsOn = new Promise<pulumi.Resource>((resolve) => (ready = resolve));
    await recordGraph(async () => {
        new Experiment("it", { ...args, enabled: false }, { dependsOn });
        await vi.waitFor(() => expect(told.at(-1)).toContain("The attacks of it could not be ended first"), 5_000);
        ready(new pulumi.ComponentResource("test:index:Application", "application"));
    }, found);
});

describe("ends attacks before the component's parent is ready, which may wait for what they cut off", () => {
    const ranUnder = (identity: string) => inputVariables({ stack: `local/${identity}` } as never);
    const owners = () => vi.mocked(endRun.endRuns).mock.calls.map(([, { stack }]) => stack);

    async function endedBefore(resources: object): Promise<string[]> {
        vi.spyOn(endRun, "endRuns").mockResolvedValue([]);
        let ready!: (resource: pulumi.Resource) => void;
        const dependsOn = new Promise<pulumi.Resource>((resolve) => (ready = resolve));
        let before: string[] = [];
        await recordGraph(
            async () => {
                const parent = new pulumi.ComponentResource("test:index:Group", "group", {}, { dependsOn });
                new Experiment("it", { ...args, enabled: false }, { parent });
                await setTimeout(300);
                before = owners();
                ready(new pulumi.ComponentResource("test:index:Application", "application"));
            },
            { ...found, [inState]: resources },
        );
        return before;
    }

    it("because the state says under what it has run", async () => {
        const environment = ranUnder("0a1b2c3d4e5f6071");
        expect(await endedBefore({ [urnOf("it")]: { outputs: { environment } } })).toEqual(["local/0a1b2c3d4e5f6071"]);
    });

    it("but not if the state has two of the name: each is then told by its parent, which comes later", async () => {
        const [one, two] = ["0a1b2c3d4e5f6071", "1a1b2c3d4e5f6071"].map((identity) => ({
            outputs: { environment: ranUnder(identity) },
        }));
        const below = urnOf("it").replace("::chaos-experiments", "::test:index:Group$chaos-experiments");
        expect(await endedBefore({ [urnOf("it")]: one, [below]: two })).toEqual([]);
        expect(owners()).toHaveLength(1);
    });
});

it("waits until the attacks of the program's disabled experiments have ended, also of those below it", async () => {
    let known!: (kubeconfig: string) => void;
    const later = new Promise<string>((resolve) => (known = resolve));
    const asked: Asked[] = [];
    const program = async () => {
        new Experiment("it", args);
        new Experiment("two", { ...args, enabled: false, kubeconfig: later });
        await vi.waitFor(() => expect(asked.map(({ name }) => name)).toContain("two-identity"));
        await setTimeout(200);
        expect(steps(asked)).toEqual([]);
        known(kubeconfig("anything"));
    };
    await recordGraph(program, found, false, asked);
    expect(steps(asked)).toHaveLength(4);
});

describe("in a plugin, to which a program's components come one by one, a mistake is an answer only when", () => {
    const outcome = async (build: (acts: FirstActs) => Promise<unknown>, acts: FirstActs) => {
        let error: Error | undefined;
        await recordGraph(
            async () => {
                acts.add("one");
                acts.refuse("a mistake", Promise.resolve(false)).catch((refused: Error) => (error = refused));
                await setTimeout(100);
                expect(error).toBeUndefined();
                await build(acts);
                await vi.waitFor(() => expect(error).toBeDefined(), 2_000);
            },
            { [inState]: { [urnOf("two")]: {} } },
        );
        return error!.message;
    };

    it("what has run has come, too, and has ended its attacks: an error would end the program before", async () => {
        let ended = false;
        const come = async (acts: FirstActs) => {
            const end = setTimeout(200).then(() => (ended = true));
            acts.add("two").end(pulumi.output(end));
        };
        expect(await outcome(come, new FirstActs(undefined, 5_000))).toBe("a mistake");
        expect(ended).toBe(true);
    });

    it("that has not come for a time, which is then told, too", async () => {
        expect(await outcome(async () => undefined, new FirstActs(undefined, 500))).toBe(
            "a mistake\nthe experiment two has run, and is not in the program, or too late: its attacks were not ended",
        );
    });
});

describe("of several experiments in a program that waits between them", () => {
    const leases: Served = {};
    const server = servingObjects(leases);
    /** The kubeconfig of a cluster that has only leases: those of these experiments of stack `local`. */
    function withLeases(...experiments: string[]): string {
        const now = new Date().toISOString();
        const items = experiments.map((experiment) => ({
            metadata: {
                name: "chaos-experiment",
                namespace: "elsewhere",
                annotations: { "chaos-experiments/experiment": experiment },
            },
            spec: { holderIdentity: `stack local/0a1b (its …)`, renewTime: now, leaseDurationSeconds: 600 },
        }));
        leases["/apis/coordination.k8s.io/v1/leases"] = { items };
        return kubeconfig("anything", server.url);
    }

    it("none begins before one that runs is constructed further below, and has ended", async () => {
        const asked: Asked[] = [];
        const kubeconfig = withLeases("two");
        const program = async () => {
            new Experiment("it", { ...args, kubeconfig });
            await setTimeout(500);
            expect(steps(asked)).toEqual([]);
            let known!: (kubeconfig: string) => void;
            const later = new Promise<string>((resolve) => (known = resolve));
            new Experiment("two", { ...args, enabled: false, kubeconfig: later });
            await setTimeout(200);
            expect(steps(asked)).toEqual([]);
            known(kubeconfig);
        };
        await recordGraph(program, found, false, asked);
        expect(steps(asked)).toHaveLength(4);
    });

    it("one begins beside one that goes on, and at once if no other runs", async () => {
        for (const running of [["two"], []]) {
            const kubeconfig = withLeases(...running);
            const asked: Asked[] = [];
            const program = async () => {
                new Experiment("it", { ...args, kubeconfig });
                if (running.length > 0) new Experiment("two", { ...args, kubeconfig });
                const hasBegun = () => expect(steps(asked).map(({ name }) => name)).toContain("it-check");
                await vi.waitFor(hasBegun, 5_000);
            };
            await recordGraph(program, found, false, asked);
        }
    });
});

it("an identity that two experiments have is refused, with the names of both: each would end the other", async () => {
    const identity = "0a1b2c3d4e5f6071";
    for (const enabled of [true, false]) {
        const { begun, errors } = await refused({ one: { identity }, two: { identity, enabled } });
        expect(begun).toEqual([]);
        expect(errors).toEqual([
            expect.stringContaining(`the experiments one and two have the same identity, "${identity}": it decides`),
        ]);
    }
});

describe("an update with --target or --exclude that leaves an experiment out", () => {
    const notRun = Object.fromEntries(
        ["identity", "steady-state", "deadline", "targets", "blackhole", "end-attacks", "check"].map((part) => [
            `it-${part}`,
            leftOut,
        ]),
    );
    /** The engine answers with what was wanted before, not with what is wanted now. */
    const before = { ...found, "it-identity": { input: "other settings", output: "0a1b2c3d4e5f6071" } };
    const notice = expect.stringMatching(/^warn: --target or --exclude leaves the experiment it out of this update: /);

    async function outcome(changes: object, printed: Record<string, object>, isPreview = false) {
        const seen: { verdict?: string; asked: Asked[] } = { asked: [] };
        const program = async () =>
            new Experiment("it", { ...args, ...changes }).verdict.apply((verdict) => (seen.verdict = verdict));
        const errors = await unhandledErrors(() => recordGraph(program, printed, isPreview, seen.asked));
        return { ...seen, errors: errors.map(({ message }) => message) };
    }

    it("succeeds if it is new and disabled: nothing has run yet that could be ended", async () => {
        expect(await outcome({ enabled: false }, notRun)).toMatchObject({ errors: [], verdict: "disabled" });
        expect(told).toEqual([]);
    });

    it("succeeds if it is new and enabled, begins nothing, and says so", async () => {
        expect(await outcome({}, notRun)).toMatchObject({ errors: [], verdict: "left out" });
        expect(told).toEqual([notice]);
    });

    it("shows nothing in a preview that the experiment would do", async () => {
        expect(await outcome({}, notRun, true)).toMatchObject({ errors: [] });
        expect(await outcome({ run: "again" }, before, true)).toMatchObject({ errors: [], verdict: "PASSED" });
        expect(told).toEqual([notice, notice]);
    });

    it.each([
        ["another run", { run: "again" }],
        ["another attack", { attacks: [{ kind: "dns", target: "k8s.statefulset=nats,k8s.namespace=messaging" }] }],
        ["a mistake", { deadline: "1s" }],
        ["a kubeconfig with a mistake, known late", { run: "again", kubeconfig: pulumi.output("") }],
        ["an `enabled` that is no boolean", { enabled: "yes" }],
    ])("keeps its verdict, asks no cluster and refuses nothing with %s", async (_, changes) => {
        const asks = vi.spyOn(client, "connect");
        expect(await outcome(changes, before)).toMatchObject({ errors: [], verdict: "PASSED" });
        expect(asks).not.toHaveBeenCalled();
        if (!("enabled" in changes)) expect(told).toEqual([notice]);
    });

    it("ends its attacks if it is disabled, and fails if it cannot: the engine would not", async () => {
        const { errors } = await outcome({ enabled: false }, before);
        expect(errors).toEqual([
            expect.stringMatching(/^The attacks of it were not ended, and --target or --exclude keeps this /),
        ]);
        expect(told).toEqual([expect.stringMatching(/^warn: The attacks of it could not be ended first: .*refuses/)]);
    });

    it("runs another one that it does not leave out", async () => {
        const asked = await recordGraph(
            async () => {
                new Experiment("it", args);
                new Experiment("two", args);
            },
            { ...found, ...notRun },
        );
        expect(find(asked, kinds.command, "two-check").environment).toBeDefined();
        expect(find(asked, kinds.command, "it-check").environment).toBeUndefined();
    });

    it("computes nothing from an unfinished run of other settings", async () => {
        const targets = { attacks: [{ name: "dns", matching: 1, targets: [] }] };
        const { "it-identity": _, ...others } = notRun;
        expect(await outcome({}, { ...others, "it-targets": targets })).toMatchObject({
            errors: [],
            verdict: "left out",
        });
    });
});

/** What is known of the inputs of a preview. */
function known(value: unknown): unknown {
    if (pulumi.isUnknown(value)) return expect.anything();
    if (Array.isArray(value)) return value.map(known);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).filter(([, one]) => !pulumi.isUnknown(one));
    return Object.fromEntries(entries.map(([key, one]) => [key, known(one)]));
}

describe("a disabled experiment", () => {
    const off = { ...args, enabled: false };

    it("that has never run warns of nothing: neither of a cluster that is away, nor that none is named", async () => {
        useAmbient("production", "https://203.0.113.5:6443");
        for (const changes of [{}, { kubeconfig: undefined }, { kubeconfig: undefined, context: "gone" }]) {
            const asked = await recordGraph(async () => void new Experiment("it", { ...off, ...changes }));
            expect(steps(asked)).toEqual([]);
        }
        expect(told).toEqual([]);
    });

    it("that has run says why its attacks could not be ended, and lets the engine delete them", async () => {
        useAmbient("production", "https://203.0.113.5:6443");
        await recordGraph(async () => void new Experiment("it", { ...off, kubeconfig: undefined }), found);
        expect(told).toEqual([
            expect.stringMatching(
                /^warn: The attacks of it could not be ended first: the current context "production"/,
            ),
        ]);
    });
});

describe("an update that was planned", () => {
    it("asks for what its preview asked for: nothing is made up, and what is unknown stays open", async () => {
        for (const changes of [{ enabled: false }, {}]) {
            const preview = await build(changes, ["it"], true);
            const program = async () => void new Experiment("it", { ...args, ...changes });
            const update = await recordGraph(program, { ...found, [inState]: {} });
            for (const { type, name, inputs } of preview)
                expect(find(update, type, name)).toMatchObject(known(inputs) as object);
            expect(update).toHaveLength(preview.length);
        }
    });

    it("keeps the identity that an earlier version has made up", async () => {
        const holder = async (printed: object) => {
            const given = { ...args, kubeconfig: undefined };
            const asked = await recordGraph(async () => void new Experiment("it", given), { ...found, ...printed });
            return inputIn(asked).stack;
        };
        useAmbient("kind-kind", "https://127.0.0.1:39123");
        const identity = "0a1b2c3d4e5f6071";
        const input = find(await build(), "pulumi:index:Stash", "it-identity").input as string;
        expect(await holder({ "it-identity": { input, output: identity } })).toBe(`local/${identity}`);
        expect(await holder({})).toMatch(/^local\/[0-9a-f]{16}$/);
    });
});

describe("a cluster that nobody has named", () => {
    it("is refused, with the argument that names it", async () => {
        useAmbient("production", "https://203.0.113.5:6443");
        expect(await errorOf({ kubeconfig: undefined })).toMatch(
            /the current context "production" .* not plainly a local.*: in the program, context: "production"$/,
        );
    });

    it("is used if it is plainly local, under its name: another current context later changes nothing", async () => {
        useAmbient("kind-kind", "https://127.0.0.1:39123");
        const asked = await build({ kubeconfig: undefined });
        expect(planIn(asked).context).toBe("kind-kind");
    });

    it("is refused for a plan, too, and a context beside the plan counts", async () => {
        useAmbient("production", "https://203.0.113.5:6443");
        const { hypothesis, attacks, checks } = args as DefinedExperiment;
        const plan = planOfArguments("it", { hypothesis, attacks, checks });
        const planned = { enabled: true, programs: args.programs, plan };
        const program = (more: object) => async () => new Experiment("it", { ...planned, ...more });
        const errors = await unhandledErrors(() => recordGraph(program({}), found));
        expect(String(errors)).toMatch(/the current context "production" .* not plainly a local cluster/);
        const asked = await recordGraph(program({ context: "production" }), found);
        expect(planIn(asked).context).toBe("production");
    });

    it("is refused if the kubeconfig that names it turns out to be empty", async () => {
        useAmbient("production", "https://203.0.113.5:6443");
        for (const empty of ["", "  \n"])
            for (const given of [empty, pulumi.output(empty)])
                expect(await errorOf({ kubeconfig: given })).toContain("the given kubeconfig is empty");
    });

    it("is used if the program names its context", async () => {
        useAmbient("production", "https://203.0.113.5:6443");
        expect(steps(await build({ kubeconfig: undefined, context: "production" }))).toHaveLength(4);
    });
});

describe("the steps", () => {
    it("get the kubeconfig as a secret, which is in no plan", async () => {
        for (const { inputs } of steps(await build())) {
            // The mocks take the whole environment for secret then; the engine only the one variable.
            expect(inputs.environment).toHaveProperty([secretMark]);
            expect(inputs.environment.value.EXPERIMENT_KUBECONFIG).toContain("a-secret-token");
            expect(fromVariable(inputs.environment.value.EXPERIMENT_INPUT)).not.toContain("a-secret-token");
        }
    });

    it("get a kubeconfig compressed that is too long for a variable, which Linux limits to 128 KiB", async () => {
        const long = kubeconfig("anything").replace("{", `{"description":"${"certificate ".repeat(20_000)}",`);
        for (const { inputs } of steps(await build({ kubeconfig: long }))) {
            const { EXPERIMENT_KUBECONFIG: given } = inputs.environment.value;
            expect(given.length).toBeLessThan(10_000);
            expect(fromVariable(given)).toBe(long);
        }
    });

    it("cannot be given one that is too long even so: the error says how to shorten it", async () => {
        const random = randomBytes(150_000).toString("base64");
        const long = kubeconfig("anything").replace("{", `{"description":"${random}",`);
        for (const given of [long, pulumi.output(long)])
            expect(await errorOf({ kubeconfig: given })).toMatch(/takes \d+ bytes, .* kubectl config view --minify/);
    });

    it("run again only for another plan: another version, folder or kubeconfig prints the earlier result", async () => {
        const triggersOf = async (changes: object) =>
            steps(await build({ identity: "0a1b2c3d", ...changes })).map(({ inputs }) => inputs.triggers[0]);
        const before = await triggersOf({});
        const programs = () => ({ ...args.programs!(), stepCommand: "node elsewhere.js" });
        expect(await triggersOf({ programs, kubeconfig: kubeconfig("other"), reports: "elsewhere" })).toEqual(before);
        expect(await triggersOf({ run: "2" })).not.toEqual(before);
        for (const { name, inputs } of steps(await build()))
            expect(inputs.update).toContain(name.endsWith("steady-state") ? "print-again" : "PULUMI_COMMAND_STDOUT");
    });

    it("are found by the shell in any folder, also if its name has what a shell would replace", () => {
        for (const name of ["plain", "with space", "$HOME `id` $(id)", "it's"]) {
            const path = join(folder, name, "echo.js");
            mkdirSync(dirname(path), { recursive: true });
            writeFileSync(path, "process.stdout.write('found')");
            expect(execSync(`node ${shellQuoted(path)} check`).toString()).toBe("found");
        }
        expect(shellQuoted("C:\\a b\\c.js", "win32")).toBe('"C:\\a b\\c.js"');
    });
});

it("a preview of an experiment without an attack says what it does", async () => {
    const actions = [{ kind: "rollout", statefulset: "nats" }];
    await build({ attacks: [], actions, namespace: "messaging" }, ["it"], true);
    expect(told).toEqual([
        "info: it would attack nothing; in namespace messaging it would restart nats, while it checks /healthz of nats",
    ]);
});

it("a preview with a kubeconfig that is not known yet says so, and names the targets' attributes", async () => {
    const unknown = pulumi.unknown as unknown as string;
    await build({ kubeconfig: pulumi.output(unknown) }, ["it"], true);
    expect(told).toEqual([
        expect.stringMatching(
            /^info: it would attack k8s\.statefulset=nats,.*not known yet.*\nIt would check \/healthz of nats$/,
        ),
    ]);
});

it("a preview of an experiment whose checks are compared says how long they are measured before", async () => {
    const unknown = pulumi.unknown as unknown as string;
    const compared = { latency: { p50: { atMost: "2x" } }, baseline: { duration: "45s" } };
    await build({ kubeconfig: pulumi.output(unknown), ...compared }, ["it"], true);
    expect(told[0]).toMatch(
        /\nBefore that it would measure \/healthz of nats for 45 s, to compare\nIt would check \/healthz of nats$/,
    );
});

it("a preview of an experiment that has run and is unchanged says so, with its verdict, and names no pod", async () => {
    const concluded = { ...found, "it-check": { verdict: "FAILED", reason: "/healthz did not hold" } };
    await recordGraph(async () => new Experiment("it", args), concluded, true);
    expect(told).toEqual(["info: it has run, and would not run again. FAILED: /healthz did not hold"]);
});

it("a preview of an experiment that has begun and has no verdict says so, and announces no attack", async () => {
    const { "it-check": _, ...begun }: Record<string, object> = {
        ...found,
        "it-steady-state": { runName: "it-1" },
        "it-targets": { attacks: [{ name: "blackhole", matching: 1, targets: [{ pod: "nats-1" }] }] },
    };
    await recordGraph(async () => new Experiment("it", args), begun, true);
    expect(told).toEqual([expect.stringMatching(/^info: it has begun on nats-1, and has no verdict: .*INCONCLUSIVE/)]);
});

describe("the component's inputs", () => {
    const inputsOf = async (changes: object) => find(await build(changes), "chaos-experiments:index:Experiment", "it");

    it("say what the experiment does as a person writes it, and no secret", async () => {
        expect(await inputsOf({ deadline: "5m", run: "2", confidence: { atLeast: "90%" } })).toMatchObject({
            hypothesis: "Messages are accepted.",
            attacks: [{ kind: "blackhole", target: "k8s.statefulset=nats,k8s.namespace=messaging", radius: 1 }],
            checks: [
                {
                    ...{ kind: "http", service: "nats", port: 8222, path: "/healthz", interval: "1s" },
                    confidence: { atLeast: "90%", level: "95%" },
                },
            ],
            actions: [],
            window: { duration: "30s", grace: "15s" },
            deadline: "5m",
            run: "2",
        });
        expect(JSON.stringify(await inputsOf({}))).not.toContain("a-secret-token");
    });

    it("are none while it is disabled: the preview that enables it shows them all", async () => {
        expect(await inputsOf({ enabled: false })).toEqual({});
    });
});

describe("a run that `chaos repeat` asks for", () => {
    const ask = (asked: AskedRun) => vi.stubEnv(askedVariable, JSON.stringify(asked));

    it("is one with another name, whether or not the program enables the experiment", async () => {
        ask({ experiment: "it", enabled: true, run: "repeated" });
        useAmbient("kind-kind", "https://127.0.0.1:1");
        expect(planIn(await build({ enabled: false, kubeconfig: undefined })).run).toBe("repeated");
    });

    it("is of no other experiment of the program", async () => {
        ask({ experiment: "one", enabled: true, run: "repeated" });
        expect(steps(await build({ enabled: false }))).toEqual([]);
    });

    it("ends although the program enables the experiment", async () => {
        ask({ experiment: "it", enabled: false, run: "" });
        expect(steps(await build())).toEqual([]);
    });
});
