import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { servicesFolder } from "../../../../components/base/program";
import { ConfigurationError, type Mistake } from "../../../../components/configuration/mistakes";
import { readConfiguration } from "../../../../components/configuration/read";
import { connections, type KnownExperiment, settings } from "../../../../components/configuration/settings";
import { poolSize } from "../../../../services/shared/database";
import { runAs } from "../../../support/running-stack";
import { scratchFolder } from "../../../support/scratch";

beforeEach(() => runAs("local"));

const target = "k8s.deployment=hot-deals";
const experiments: KnownExperiment[] = [
    { name: "hot-deals-blackhole", attacks: [{ kind: "blackhole", target }] },
    { name: "orders-kill", variant: "seven", attacks: [{ kind: "kill", target }] },
    {
        name: "two-at-once",
        attacks: [
            { kind: "blackhole", target },
            { kind: "dns", target },
        ],
    },
    { name: "wants-cut", attacks: [{ kind: "blackhole", target, established: "cut" }] },
    {
        name: "patient",
        attacks: [{ kind: "blackhole", target }],
        actions: [
            { kind: "wait", durationMs: 20_000 },
            { kind: "scale", deployment: "hot-deals", replicas: 2 },
            { kind: "wait", durationMs: 10_000 },
        ],
    },
    { name: "states", checks: [{ kind: "podsReady", of: target }] },
    {
        name: "careful",
        attacks: [{ kind: "dns", target }],
        checks: [
            { kind: "http", path: "/", abortBelow: "50%", abortOver: "20s" },
            { kind: "http", path: "/", abortBelow: "60%", perSecond: 4, successRate: 0.7 },
        ],
    },
    {
        name: "compared",
        attacks: [{ kind: "dns", target }],
        checks: [{ kind: "http", path: "/", perSecond: 10, latency: { p50: { atMost: "2x" } } }],
    },
];
const around = { project: "chaos-shop", stack: "local", experiments };
const own = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [`chaos-shop:${key}`, value]));
/** Without an agent, unless it is about one. */
const read = (values: Record<string, string>) =>
    readConfiguration(own({ "agent.enabled": "false", ...values }), around);

function mistakesOf(values: Record<string, string>): Omit<Mistake, "mend">[] {
    try {
        read(values);
    } catch (error) {
        if (error instanceof ConfigurationError) return error.mistakes.map(({ mend: _, ...told }) => told);
        throw error;
    }
    return [];
}

describe("a stack without settings", () => {
    it("is variant four in namespace demo, without an experiment", () => {
        const configuration = read({});
        expect(configuration).toMatchObject({
            variant: "four",
            namespace: "demo",
            clusterName: "local",
            gateway: { serviceType: "LoadBalancer" },
            replicas: {},
        });
        expect(configuration.experiment.enabled).toBe(false);
        expect(configuration.kubeContext).toBeUndefined();
    });
});

it("reads what the stack sets", () => {
    const configuration = read({
        namespace: "shop-1",
        variant: "seven",
        "replicas.hot-deals": "3",
        "experiment.radius": "50%",
        "experiment.duration": "1m30s",
        "ingress.hosts": "shop.example.com, www.example.com",
        "ingress.class": "nginx",
        "ingress.annotations":
            "cert-manager.io/cluster-issuer=letsencrypt, " +
            "nginx.ingress.kubernetes.io/whitelist-source-range=10.0.0.0/8,172.16.0.0/12," +
            "alb.ingress.kubernetes.io/load-balancer-attributes=idle_timeout.timeout_seconds=600," +
            "routing.http2.enabled=true",
        "images.pullSecrets": "registry, mirror",
        "nodes.selector": "pool=demo,topology.kubernetes.io/zone=eu-1a",
        "nodes.tolerations": "dedicated=demo:NoSchedule,spot:NoExecute,example.com/gpu",
        "pods.priorityClass": "high",
        "database.storage": "10Gi",
        "broker.storage": "1Gi",
        "storage.class": "fast",
        "shutdown.delay": "5s",
    });
    expect(configuration).toMatchObject({
        namespace: "shop-1",
        replicas: { "hot-deals": 3 },
        experiment: { radius: "50%", durationMs: 90_000 },
        ingress: {
            hosts: ["shop.example.com", "www.example.com"],
            class: "nginx",
            annotations: {
                "cert-manager.io/cluster-issuer": "letsencrypt",
                "nginx.ingress.kubernetes.io/whitelist-source-range": "10.0.0.0/8,172.16.0.0/12",
                "alb.ingress.kubernetes.io/load-balancer-attributes":
                    "idle_timeout.timeout_seconds=600,routing.http2.enabled=true",
            },
        },
        storage: { database: "10Gi", broker: "1Gi", class: "fast", keep: true },
        shutdownDelayMs: 5_000,
    });
    expect(configuration.placement).toEqual({
        pullSecrets: ["registry", "mirror"],
        nodeSelector: { pool: "demo", "topology.kubernetes.io/zone": "eu-1a" },
        tolerations: [
            { key: "dedicated", operator: "Equal", value: "demo", effect: "NoSchedule" },
            { key: "spot", operator: "Exists", effect: "NoExecute" },
            { key: "example.com/gpu", operator: "Exists" },
        ],
        priorityClassName: "high",
    });
});

it("ignores the keys of other projects", () => {
    expect(() =>
        readConfiguration(
            { "kubernetes:context": "kind-kind", "aws:region": "eu-central-1", "chaos-shop:agent.enabled": "false" },
            around,
        ),
    ).not.toThrow();
});

describe("every wrong value is rejected with its key, its value, what is allowed and the command that fixes it", () => {
    const wrong: [key: string, value: string][] = [
        ["variant", "five"],
        ["namespace", "Demo_1"],
        ["kube.context", " "],
        ["cluster.name", ""],
        ["install", "helm"],
        ["install.timeout", "1h"],
        ["chart.repo", "charts.example.com"],
        ["chart.name", ""],
        ["chart.version", ""],
        ["chart.values", ""],
        ["manifest", ""],
        ["gateway.serviceType", "loadbalancer"],
        ["gateway.addressTimeout", "soon"],
        ["ingress.hosts", "not a host"],
        ["ingress.hosts", "http://shop.example.com"],
        ["ingress.class", "Not A Class"],
        ["ingress.tlsSecret", "Secret!"],
        ["ingress.annotations", "letsencrypt"],
        ["ingress.annotations", "cluster-issuer=letsencrypt"],
        ["replicas.gateway", "-1"],
        ["replicas.fashion-bestseller", "two"],
        ["replicas.toys-bestseller", "1.5"],
        ["replicas.hot-deals", "1000"],
        ["replicas.orders", "none"],
        ["replicas.inventory", "-1"],
        ["orders.readyTimeout", "an hour"],
        ["images.nats", "docker.io/library/nats"],
        ["images.node", "docker.io/library/node"],
        ["images.node", "docker.io/library/node:latest"],
        ["images.postgres", "docker.io/library/postgres:"],
        ["images.pullSecrets", "Registry"],
        ["images.pullSecrets", "one,,two"],
        ["nodes.selector", "demo"],
        ["nodes.selector", "pool=not a value"],
        ["nodes.tolerations", "dedicated=demo:Never"],
        ["nodes.tolerations", "NoSchedule:dedicated:"],
        ["database.storage", "1 GB"],
        ["database.storage", "0.0Gi"],
        ["database.storage", "500m"],
        ["broker.storage", "lots"],
        ["storage.class", "Fast!"],
        ["storage.keep", "maybe"],
        ["networkPolicies", "some"],
        ["pods.priorityClass", "High!"],
        ["pods.userIds", "mine"],
        ["shutdown.delay", "an hour"],
        ["agent.enabled", "yes"],
        ["agent.install", "apt"],
        ["agent.key", "short"],
        ["agent.namespace", "Agents"],
        ["agent.timeout", "1h"],
        ["agent.chart", ""],
        ["agent.repo", "charts.example.com"],
        ["agent.version", ""],
        ["agent.values", ""],
        ["agent.manifest", ""],
        ["experiment.enabled", "yes"],
        ["experiment.name", "everything-down"],
        ["experiment.area", "The World"],
        ["experiment.target", "hot-deals"],
        ["experiment.target", "k8s.pod.name=hot-deals-1"],
        ["experiment.target", "k8s.deploy=hot-deals"],
        ["experiment.radius", "0"],
        ["experiment.radius", "200%"],
        ["experiment.radius", "none"],
        ["experiment.includeNotReady", "yes"],
        ["experiment.established", "survived"],
        ["experiment.outward", "maybe"],
        ["experiment.attack", "earthquake"],
        ["experiment.duration", "30"],
        ["experiment.interval", "0s"],
        ["experiment.timeout", "forever"],
        ["experiment.grace", "-1s"],
        ["experiment.successRate", "1.0"],
        ["experiment.successRate", "0%"],
        ["experiment.confidence", "100%"],
        ["experiment.latency", "p95=2"],
        ["experiment.latency", "p95=2x,p95=900x"],
        ["experiment.baseline", "11m"],
        ["experiment.abortBelow", "0.5"],
        ["experiment.deadline", "1s"],
        ["experiment.until", "tomorrow"],
        ["experiment.onFailure", "panic"],
        ["experiment.run", ""],
    ];

    it.each(wrong)("%s = %j", (key, value) => {
        const mistakes = mistakesOf({ [key]: value });
        expect(mistakes).toHaveLength(1);
        expect(mistakes[0]).toMatchObject({ key, value: key === "agent.key" ? "[secret]" : value });
        expect(mistakes[0]!.reason).toMatch(/allowed: ./);
        expect(mistakes[0]!.command).toMatch(`npx pulumi config set ${key === "agent.key" ? "--secret " : ""}${key}`);
    });

    it.each([
        ["namespace", "My_Shop", "my-shop"],
        ["gateway.serviceType", "loadbalancer", "LoadBalancer"],
        ["storage.keep", "flase", "false"],
        ["experiment.duration", "30", "30s"],
        ["experiment.successRate", "95", "95%"],
        ["ingress.hosts", "Shop.example.com", "shop.example.com"],
        ["experiment.area", "GLOBAL", "Global"],
        // Nothing is guessed that could mean something else.
        ["images.pullSecrets", "one two", "registry"],
        ["ingress.hosts", "a.example.com b.example.com", "shop.example.com"],
        ["experiment.successRate", "1", "100%"],
        ["images.node", "docker.io/library/node:latest", settings["images.node"].default],
        ["kube.context", " ", "my-cluster"],
        ["install", "helm", "program"],
    ])("%s = %j is mended with the nearest value that is allowed: %s", (key, value, better) => {
        expect(mistakesOf({ [key]: value })).toMatchObject([
            { command: `npx pulumi config set ${key} ${better} --stack local` },
        ]);
    });

    it("covers every setting", () => {
        expect([...new Set(wrong.map(([key]) => key))].sort()).toEqual(Object.keys(settings).sort());
    });

    it.each(Object.entries(settings))("the command for %s sets a value that is allowed", (_, setting) => {
        expect((setting as { read(text: string): unknown }).read(setting.default ?? setting.example)).toBeDefined();
    });
});

it.each(["1G", "500M", "1.5Gi", ".5Ti", "+1Gi", "1073741824", "1e9", "0.5Gi"])("Kubernetes' size %s is one", (size) =>
    expect(mistakesOf({ "database.storage": size })).toEqual([]),
);

describe("keys", () => {
    it("a misspelled key is rejected, with the key that was meant", () => {
        expect(mistakesOf({ "experiment.enabeld": "true" })).toEqual([
            {
                key: "experiment.enabeld",
                value: "[hidden]",
                reason: "there is no such setting; did you mean experiment.enabled?",
                command:
                    '(value=$(npx pulumi config get experiment.enabeld --stack local) && printf %s "$value" | ' +
                    "npx pulumi config set experiment.enabled --stack local && " +
                    "npx pulumi config rm experiment.enabeld --stack local)",
            },
        ]);
    });

    it.each([
        ["is moved", "echo false", ["set experiment.enabled = false", "rm experiment.enabeld"]],
        ["that is not in the stack's file changes nothing there", "exit 1", []],
    ])("a misspelled key %s", (_, get, expected) => {
        const { command } = mistakesOf({ "experiment.enabeld": "false" })[0]!;
        const npx = `npx() { case $3 in get) ${get};; set) echo "set $4 = $(cat)";; rm) echo "rm $4";; esac; }`;
        const { stdout } = spawnSync("sh", ["-c", `${npx}\n${command}`], { encoding: "utf8" });
        expect(stdout.split("\n").filter(Boolean)).toEqual(expected);
    });

    it("an unknown key is rejected, with a list of all keys", () => {
        expect(mistakesOf({ colour: "blue" })[0]!.reason).toContain("experiment.enabled");
    });

    it("a key set with --path is rejected, with the command that sets it without", () => {
        expect(mistakesOf({ experiment: '{"enabled":true}' })[0]).toMatchObject({
            key: "experiment",
            command: expect.stringContaining("npx pulumi config rm experiment --stack local && "),
        });
    });
});

describe("a saved experiment", () => {
    it("that does not exist is rejected, with those that fit the stack's variant", () => {
        expect(mistakesOf({ "experiment.name": "wants-cats" })).toMatchObject([
            {
                key: "experiment.name",
                reason:
                    "there is no such saved experiment; " +
                    "allowed: hot-deals-blackhole, two-at-once, wants-cut, patient, states, careful, compared",
                // The one that was most likely meant.
                command: "npx pulumi config set experiment.name wants-cut --stack local",
            },
        ]);
    });

    it("for another variant of the shop is rejected, with the command that changes the variant", () => {
        expect(mistakesOf({ "experiment.name": "orders-kill" })).toMatchObject([
            {
                key: "experiment.name",
                reason: expect.stringContaining("needs variant seven, and this stack is variant four"),
                command: "npx pulumi config set variant seven --stack local",
            },
        ]);
    });
});

describe("values that contradict one another", () => {
    it.each([
        ["experiment.interval", { "experiment.duration": "5s", "experiment.interval": "10s" }],
        [
            "experiment.deadline",
            { "experiment.duration": "50s", "experiment.grace": "15s", "experiment.deadline": "1m" },
        ],
        [
            "experiment.area",
            { "experiment.area": "elsewhere", "experiment.target": "k8s.deployment=hot-deals,k8s.namespace=demo" },
        ],
        ["ingress.class", { "ingress.class": "nginx" }],
        ["replicas.orders", { "replicas.orders": "2" }],
        ["ingress.tlsSecret", { "ingress.tlsSecret": "shop-tls" }],
        ["ingress.annotations", { "ingress.annotations": "example.com/a=b" }],
        ["broker.storage", { "broker.storage": "1Gi" }],
        ["storage.class", { "storage.class": "fast" }],
        ["experiment.duration", { "experiment.name": "patient", "experiment.duration": "10s" }],
        ["experiment.duration", { "experiment.abortBelow": "50%", "experiment.duration": "9s" }],
        ["experiment.duration", { "experiment.name": "careful", "experiment.duration": "15s" }],
        ["experiment.interval", { "experiment.abortBelow": "50%", "experiment.interval": "10s" }],
        ["experiment.abortBelow", { "experiment.abortBelow": "90.5%", "experiment.successRate": "90%" }],
        ["experiment.successRate", { "experiment.name": "careful", "experiment.successRate": "40%" }],
        ["experiment.confidence", { "experiment.confidence": "70%", "experiment.successRate": "60%" }],
    ])("%s", (key, values: Record<string, string>) => {
        expect(mistakesOf(values)).toMatchObject([
            {
                key,
                value: values[key],
                reason: expect.any(String),
                command: expect.stringContaining("npx pulumi config set "),
            },
        ]);
    });

    it("are told with values that agree: the limit of an abort rule and the required success rate", () => {
        const mistakes = mistakesOf({ "experiment.abortBelow": "99.5%", "experiment.successRate": "99%" });
        expect(mistakes).toMatchObject([
            {
                reason:
                    "the attacks would end below 99.5%, in a run that passes with 99%, the required success rate; " +
                    "allowed: at most 99%",
                command: "npx pulumi config set experiment.abortBelow 99% --stack local",
            },
        ]);
        const equal = { "experiment.abortBelow": "99%", "experiment.successRate": "99%" };
        expect(read(equal).experiment.abortBelow).toBe(0.99);
        // Each setting once, however many checks it contradicts.
        expect(mistakesOf({ "experiment.name": "careful", "experiment.duration": "5s" })).toHaveLength(1);
    });

    it("are told with what mends them: what a check is compared with, and too few answers for that", () => {
        const first = (values: Record<string, string>) => {
            const { key, reason, command } = mistakesOf({ "experiment.latency": "p95=2x", ...values })[0]!;
            return [key, reason, command.replace(/^npx pulumi config /, "").replaceAll(" --stack local", "")];
        };
        const takes = "to compare p95 takes 144 answers before the attack and under it, and the";
        const interval =
            "30 s with an interval of 1 s; allowed: at least 144s, or an experiment.interval of at most 208ms";
        expect(first({ "experiment.baseline": "144s" })).toEqual([
            "experiment.duration",
            `${takes} window has 30, in ${interval}`,
            "set experiment.duration 144s",
        ]);
        expect(first({})).toEqual([
            "experiment.baseline",
            `${takes} baseline has 30, in ` +
                interval.replace("144s", "144s with an experiment.duration of at least 144s"),
            "set experiment.baseline 144s && npx pulumi config set experiment.duration 144s",
        ]);
        expect(
            first({ "experiment.latency": "p99=2x", "experiment.baseline": "1s", "experiment.duration": "1s" }),
        ).toEqual([
            "experiment.baseline",
            expect.stringMatching(
                "allowed: at least 10m with an experiment.duration of at least 10m and an experiment.interval of " +
                    "at most 819ms$",
            ),
            "set experiment.baseline 10m && npx pulumi config set experiment.duration 10m && " +
                "npx pulumi config set experiment.interval 819ms",
        ]);
        const mended = { "experiment.latency": "p95=2x,p50=+50ms", "experiment.interval": "200ms" };
        expect(read(mended).experiment.latency).toEqual([
            { of: "p50", atMostMoreMs: 50 },
            { of: "p95", atMostTimes: 2 },
        ]);
        expect(read({ "experiment.name": "compared", "experiment.baseline": "40s" }).experiment.baselineMs).toBe(
            40_000,
        );
        const baseline = { "experiment.baseline": "40s" };
        expect(mistakesOf(baseline)).toMatchObject([
            {
                key: "experiment.baseline",
                reason: expect.stringMatching(
                    /^no check of \S+ is compared with before the attack; allowed: leave it out, or set/,
                ),
                command: "npx pulumi config rm experiment.baseline --stack local",
            },
        ]);
        // Another mistake, which may be why nothing is compared.
        expect(mistakesOf({ ...baseline, "experiment.latency": "2x" })).toMatchObject([{ key: "experiment.latency" }]);
        expect(first({ "experiment.name": "states" })).toEqual([
            "experiment.latency",
            "no check of the experiment is of kind http, grpc or command; allowed: leave it out",
            "rm experiment.latency",
        ]);
    });

    it("are told with what mends them: what a check must show, and a window that does not show it", () => {
        const takes = "to show 99% with 95% confidence takes 299 good answers, and the window has ";
        const first = (values: Record<string, string>) => {
            const { key, reason, command } = mistakesOf({ "experiment.confidence": "99%", ...values })[0]!;
            return [key, reason, command.replace(/^npx pulumi config /, "").replaceAll(" --stack local", "")];
        };
        expect(first({})).toEqual([
            "experiment.duration",
            `${takes}30, in 30 s with an interval of 1 s; allowed: at least 299s, or an ` +
                "experiment.interval of at most 100ms, or an experiment.confidence of at most 90.4%; prefer the " +
                "longer window: it sees outages that a shorter interval does not",
            "set experiment.duration 299s",
        ]);
        expect(first({ "experiment.interval": "20s" })).toEqual([
            "experiment.interval",
            `${takes}2, in 30 s with an interval of 20 s; allowed: at most 100ms, or an experiment.confidence of at ` +
                "most 22.3%",
            "set experiment.interval 100ms",
        ]);
        expect(first({ "experiment.confidence": "99.9%", "experiment.interval": "20s" })).toEqual([
            "experiment.duration",
            "to show 99.9% with 95% confidence takes 2995 good answers, and the window has 2, in 30 s with an " +
                "interval of 20 s; allowed: at least 1h with an experiment.interval of at most 1202ms, or an " +
                "experiment.confidence of at most 22.3%",
            "set experiment.duration 1h && npx pulumi config set experiment.interval 1202ms",
        ]);
        const mended = { "experiment.confidence": "99%", "experiment.duration": "299s" };
        expect(read(mended).experiment.confidence).toEqual({ atLeast: 0.99, level: 0.95 });
        expect(first({ "experiment.name": "states" })).toEqual([
            "experiment.confidence",
            "no check of the experiment is of kind http, grpc or command; allowed: leave it out",
            "rm experiment.confidence",
        ]);
    });

    it("are reported in the units in which people write them", () => {
        expect(
            mistakesOf({ "experiment.duration": "4m", "experiment.grace": "90s", "experiment.deadline": "5m" }),
        ).toMatchObject([
            {
                value: "5m",
                reason: expect.stringContaining("allowed: at least 335s, which is grace, duration and 5s until"),
                command: "npx pulumi config set experiment.deadline 12m --stack local",
            },
        ]);
    });
});

describe("experiment.includeNotReady", () => {
    it("applies to each attack of an experiment", () =>
        expect(mistakesOf({ "experiment.name": "two-at-once", "experiment.includeNotReady": "true" })).toEqual([]));

    it("is rejected with the attack kill, which deletes only ready pods", () =>
        expect(mistakesOf({ "experiment.attack": "kill", "experiment.includeNotReady": "true" })).toMatchObject([
            {
                key: "experiment.includeNotReady",
                reason: "the attack kill affects only pods that are ready; allowed: false",
                command: "npx pulumi config set experiment.includeNotReady false --stack local",
            },
        ]));
});

describe("an experiment with several attacks", () => {
    it.each([
        ["experiment.target", "k8s.deployment=hot-deals"],
        ["experiment.attack", "dns"],
    ])("is rejected with %s, which could mean either attack", (key, value) => {
        expect(mistakesOf({ "experiment.name": "two-at-once", [key]: value })).toMatchObject([
            {
                key,
                value,
                reason: expect.stringContaining("several attacks (blackhole, dns)"),
                command: `npx pulumi config rm ${key} --stack local`,
            },
        ]);
    });

    it("is accepted with experiment.radius, which applies to each attack", () =>
        expect(mistakesOf({ "experiment.name": "two-at-once", "experiment.radius": "50%" })).toEqual([]));
});

describe("established connections that must be cut", () => {
    const cut = { "experiment.established": "cut" };

    it("are read", () => expect(read(cut).experiment.established).toBe("cut"));

    it.each<[string, Record<string, string>, string]>([
        ["the experiment", { ...cut, "experiment.name": "two-at-once" }, "experiment.established"],
        ["experiment.attack", { ...cut, "experiment.attack": "dns" }, "experiment.established"],
        ["experiment.attack", { "experiment.name": "wants-cut", "experiment.attack": "dns" }, "experiment.attack"],
    ])("are rejected with an attack of %s that cannot show it", (_, values, key) =>
        expect(mistakesOf(values)).toMatchObject([
            {
                key,
                reason: expect.stringContaining("can be shown only for a blackhole"),
                command: "npx pulumi config set experiment.established any --stack local",
            },
        ]),
    );

    it.each<[string, Record<string, string>]>([
        ["by the stack", cut],
        ["by the saved experiment", { "experiment.name": "wants-cut" }],
    ])("need a window in which that shows: %s", (_, values) =>
        expect(mistakesOf({ ...values, "experiment.duration": "4s", "experiment.grace": "0s" })).toMatchObject([
            {
                key: "experiment.duration",
                reason: expect.stringContaining("too short to show that established connections are cut"),
                command: "npx pulumi config set experiment.duration 10s --stack local",
            },
        ]),
    );

    it("need not be, if the stack says so", () =>
        expect(
            mistakesOf({
                "experiment.name": "wants-cut",
                "experiment.attack": "dns",
                "experiment.established": "any",
            }),
        ).toEqual([]));
});

describe("an attack whose outward direction may stay unproven", () => {
    const unproven = { "experiment.outward": "unproven" };

    it("is read", () => expect(read(unproven).experiment.outward).toBe("unproven"));

    it("must not be one that nothing else proves", () =>
        expect(mistakesOf({ ...unproven, "experiment.attack": "dns" })).toMatchObject([
            {
                key: "experiment.outward",
                reason: expect.stringMatching(/^this is allowed only for a blackhole of .*for this attack: proven$/),
                command: "npx pulumi config set experiment.outward proven --stack local",
            },
        ]));
});

describe("a shop from a chart or a manifest", () => {
    const folder = scratchFolder();
    const values = (text: string) => {
        writeFileSync(join(folder, "values.yaml"), text);
        return join(folder, "values.yaml");
    };

    it("is by default the upstream demo's chart, with a timeout of 5 minutes", () => {
        const chart = { name: "steadybit-shopping-demo", repo: "https://steadybit.github.io/shopping-demo" };
        expect(read({ install: "chart" }).install).toMatchObject({ kind: "chart", chart, timeoutMs: 300_000 });
    });

    it("accepts a values file of YAML, even an empty one", () => {
        for (const text of ["ingress: { hosts: [shop.example.com] }\n", ""]) {
            expect(read({ install: "chart", "chart.values": values(text) }).install).toMatchObject({
                chart: { valuesFile: join(folder, "values.yaml") },
            });
        }
    });

    it.each([
        ["no YAML", "ingress: [\npassword: s3cr3t", /is not YAML: look at line \d/],
        ["no values", "- password: s3cr3t\n", /contains no values/],
    ])("rejects a values file that has %s, and quotes nothing of it", (_, text, reason) => {
        const mistakes = mistakesOf({ install: "chart", "chart.values": values(text) });
        expect(mistakes).toMatchObject([
            {
                key: "chart.values",
                reason: expect.stringMatching(reason),
                command: "npx pulumi config set chart.values values.yaml --stack local",
            },
        ]);
        expect(JSON.stringify(mistakes)).not.toContain("s3cr3t");
    });

    it.each([
        ["manifest", { install: "manifest" }],
        ["manifest", { install: "manifest", manifest: "no-such-file.yaml" }],
        ["chart.values", { install: "chart", "chart.values": "no-such-file.yaml" }],
        ["manifest", { install: "manifest", manifest: "docs" }],
        ["chart.values", { install: "chart", "chart.values": "docs" }],
    ])("does not make up for a wrong %s", (key, settings) => {
        expect(mistakesOf(settings as Record<string, string>)).toMatchObject([
            { key, command: expect.stringContaining(`npx pulumi config set ${key} `) },
        ]);
    });

    it("rejects settings that only the program reads, with the command that removes each", () => {
        const set = {
            "replicas.gateway": "2",
            "gateway.serviceType": "NodePort",
            "database.storage": "1Gi",
            "images.postgres": "postgres:16",
        };
        expect(
            mistakesOf({ install: "chart", ...set, "ingress.hosts": "shop.example.com" }).map(({ command }) => command),
        ).toEqual(Object.keys(set).map((key) => `npx pulumi config rm ${key} --stack local`));
        expect(
            mistakesOf({
                install: "manifest",
                manifest: "https://example.com/shop.yaml",
                "ingress.hosts": "shop.example.com",
            }),
        ).toMatchObject([{ key: "ingress.hosts", command: "npx pulumi config rm ingress.hosts --stack local" }]);
    });

    it("rejects the number of pods of a workload that it may not have once, with one remedy", () => {
        expect(mistakesOf({ install: "chart", "replicas.orders": "2" })).toMatchObject([
            { key: "replicas.orders", command: "npx pulumi config rm replicas.orders --stack local" },
        ]);
    });
    it("rejects networkPolicies unless the builtin agent has some", () => {
        const set = { install: "chart", networkPolicies: "false" };
        expect(mistakesOf({ ...set, "agent.enabled": "false" })).toMatchObject([
            { key: "networkPolicies", command: "npx pulumi config rm networkPolicies --stack local" },
        ]);
        const ofAgent = mistakesOf({ ...set, "agent.enabled": "true" }).map(({ key }) => key);
        expect(ofAgent).not.toContain("networkPolicies");
    });
});

describe("the agent's key", () => {
    const secretive = { ...around, isSecret: (key: string) => key === "chaos-shop:agent.key" };
    const refusal = (values: Record<string, string>, surroundings: typeof around = around): Mistake[] => {
        try {
            readConfiguration(own(values), surroundings);
        } catch (error) {
            return [...(error as ConfigurationError).mistakes];
        }
        return [];
    };
    const key = "0123456789abcdef";

    it("is required if the agent is enabled; the error has a command that generates one", () => {
        expect(refusal({})).toMatchObject([
            {
                key: "agent.key",
                command: "openssl rand -hex 32 | npx pulumi config set --secret agent.key --stack local",
            },
        ]);
    });
    it("comes from the platform of a vendor's agent; the error has a command that asks for it", () => {
        expect(refusal({ "agent.install": "chart" })).toMatchObject([
            { key: "agent.key", command: "npx pulumi config set --secret agent.key --stack local" },
        ]);
    });
    it("that is too short is one mistake, mended without a prompt unless a platform gives the key", () => {
        expect(refusal({ "agent.key": "short" }, secretive)).toMatchObject([
            { value: "[secret]", command: expect.stringMatching(/^openssl rand -hex 32 \| .*--secret agent\.key/) },
        ]);
        expect(refusal({ "agent.key": "short", "agent.install": "chart" }, secretive)).toMatchObject([
            { command: "npx pulumi config set --secret agent.key --stack local" },
        ]);
    });
    it("is rejected in clear text, and not shown, even if the agent is disabled", () => {
        for (const enabled of ["true", "false"]) {
            const mistakes = refusal({ "agent.key": key, "agent.enabled": enabled });
            expect(mistakes).toMatchObject([
                {
                    key: "agent.key",
                    value: "[secret]",
                    command: "openssl rand -hex 32 | npx pulumi config set --secret agent.key --stack local",
                },
            ]);
            expect(JSON.stringify(mistakes)).not.toContain(key);
        }
    });
    it("is accepted as a secret", () => {
        const { agent } = readConfiguration(own({ "agent.key": key }), secretive);
        expect(agent).toMatchObject({ install: "builtin", key, namespace: "demo-agent", timeoutMs: 300_000 });
    });
    it.each([
        ["agent.manifest", { "agent.install": "manifest" }],
        ["agent.manifest", { "agent.install": "manifest", "agent.manifest": "no-such-file.yaml" }],
        ["agent.values", { "agent.install": "chart", "agent.values": "no-such-file.yaml" }],
        ["agent.namespace", { "agent.namespace": "demo" }],
    ])("does not make up for a wrong %s", (wrong, values) => {
        expect(refusal({ "agent.key": key, ...values }, secretive)).toMatchObject([
            { key: wrong, command: expect.stringContaining(`npx pulumi config set ${wrong} `) },
        ]);
    });
});

it("all mistakes of a stack are reported at once", () => {
    const mistakes = mistakesOf({ variant: "five", namespace: "Demo", "experiment.radius": "0", nonsense: "1" });
    expect(mistakes.map(({ key }) => key).sort()).toEqual(["experiment.radius", "namespace", "nonsense", "variant"]);
    expect(() => read({ variant: "five", "experiment.radius": "0" })).toThrow(
        /stack local has 2 mistakes(.|\n)*variant is "five"(.|\n)*experiment.radius is "0"/,
    );
});

describe("a value that may be a secret never shows in the error about it", () => {
    const secretive = {
        ...around,
        isSecret: (key: string) => /:(?:agent\.kee|replicas\.gatewy|experiment\.target)$/.test(key),
    };
    const errorOf = (values: Record<string, string>) => {
        try {
            readConfiguration(own({ "agent.enabled": "false", ...values }), secretive);
        } catch (thrown) {
            return thrown as ConfigurationError;
        }
        throw new Error("it was accepted");
    };
    const value = "it's a s3cr3t-value";

    it.each([
        ["agent.kee", "[secret]"],
        ["agent.kye", "[hidden]"],
        ["colour", "[hidden]"],
        ["constructor", "[hidden]"],
        ["__proto__", "[hidden]"],
        ["experiment", "[hidden]"],
        ["agent.key", "[secret]"],
        // The reader's reason quotes parts of the value.
        ["experiment.target", "[secret]"],
    ])("%s", (key, shown) => {
        const { message } = errorOf(Object.fromEntries([[key, value]]));
        expect(message).toContain(`${key} is "${shown}"`);
        expect(message).not.toMatch(/s3cr3t/);
    });

    it("and the command that mends it keeps it secret", () => {
        expect(errorOf({ "agent.kye": value }).mistakes).toMatchObject([
            {
                command:
                    "npx pulumi config rm agent.kye --stack local && " +
                    "npx pulumi config set --secret agent.key --stack local",
            },
        ]);
        expect(errorOf({ "replicas.gatewy": "2" }).mistakes).toMatchObject([
            {
                command:
                    '(value=$(npx pulumi config get replicas.gatewy --stack local) && printf %s "$value" | ' +
                    "npx pulumi config set --secret replicas.gateway --stack local && " +
                    "npx pulumi config rm replicas.gatewy --stack local)",
            },
        ]);
    });
});

it.each(["constructor", "toString", "__proto__"])("%s is neither a flag nor an attack", (value) => {
    const set = { "experiment.enabled": value, "experiment.attack": value, networkPolicies: value };
    expect(mistakesOf(set).map(({ key }) => key)).toEqual(
        ["networkPolicies", "experiment.attack", "experiment.enabled"].sort(
            (a, b) => Object.keys(settings).indexOf(a) - Object.keys(settings).indexOf(b),
        ),
    );
});

describe("names that Kubernetes limits", () => {
    const long = "n".repeat(58);

    it("leave room for the agent's namespace, which is named after the shop's", () => {
        const around = { "agent.enabled": "true", "agent.install": "chart" };
        expect(mistakesOf({ ...around, namespace: long })).toContainEqual({
            key: "namespace",
            value: long,
            reason: expect.stringMatching(/would be n+-agent, which is too long; allowed: at most 57 characters, or /),
            command: `npx pulumi config set agent.namespace ${"n".repeat(57)}-agent --stack local`,
        });
        const others: Record<string, string>[] = [
            { namespace: long.slice(1) },
            { namespace: long, "agent.namespace": "agent" },
        ];
        for (const set of others)
            expect(mistakesOf({ ...around, ...set }).map(({ key }) => key)).not.toContain("namespace");
        expect(mistakesOf({ namespace: long })).toEqual([]);
    });

    it("are DNS subdomains, with dots, but for namespaces", () => {
        const dotted = {
            "ingress.hosts": "a.example",
            "ingress.tlsSecret": "shop.example.com",
            "ingress.class": "nginx.internal",
            "images.pullSecrets": "registry.example.com, mirror",
            "database.storage": "1Gi",
            "storage.class": "standard.rwo",
        };
        expect(mistakesOf(dotted)).toEqual([]);
        for (const key of ["ingress.tlsSecret", "ingress.class", "images.pullSecrets", "storage.class"])
            expect(mistakesOf({ ...dotted, [key]: "a..b" }).map((mistake) => mistake.key)).toEqual([key]);
    });
});

describe("replicas are limited by the database's connections", () => {
    const [one, other] = ["replicas.hot-deals", "replicas.orders"];

    it.each<[string, Record<string, string>, Record<string, string>]>([
        ["variant four", { [one]: "19" }, {}],
        ["variant four", { [one]: "20" }, { [one]: "19" }],
        ["variant seven", { variant: "seven", [one]: "15" }, {}],
        ["variant seven", { variant: "seven", [one]: "100", [other]: "100" }, { [one]: "8", [other]: "8" }],
        ["another shop, whose manifest says how many", { install: "chart" }, {}],
    ])("of %s with %j", (_, values, fixes) => {
        const found = mistakesOf(values);
        expect(found.map(({ key }) => key).sort()).toEqual(Object.keys(fixes).sort());
        for (const [key, fix] of Object.entries(fixes))
            expect(found.find((mistake) => mistake.key === key)).toMatchObject({
                reason: expect.stringMatching(`97 connections are enough for \\d+; allowed: at most ${fix}`),
                command: `npx pulumi config set ${key} ${fix} --stack local`,
            });
    });

    it("which are those of the pods and of PostgreSQL", () => {
        const configured = readFileSync(join(servicesFolder, "database", "postgresql.conf"), "utf8");
        const [, all] = /^max_connections = (\d+)$/m.exec(configured)!;
        // superuser_reserved_connections is 3 by default.
        expect(connections).toEqual({ each: poolSize, all: Number(all) - 3 });
    });
});
