import { readdirSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { documentsIn, importExperiments } from "../../../../../chaos/cli/import/convert";
import { type Imported, writtenAs } from "../../../../../chaos/cli/import/written";
import {
    added,
    chaos,
    differences,
    edited,
    everyPod,
    external,
    files,
    fromFile,
    imported,
    noted,
    only,
    read,
    refusedOf,
    refuses,
} from "./support";

describe("an experiment of Chaos Mesh", () => {
    it("a partition in both directions is a blackhole with peers", () => {
        const [experiment] = imported(read("primary-partition.yaml"), added);
        expect(experiment).toMatchObject({
            name: "ledger-primary-alone",
            args: {
                hypothesis: "The shop answers meanwhile.",
                attacks: [
                    {
                        kind: "blackhole",
                        target:
                            "k8s.label.app.kubernetes.io/instance=ledger-db,k8s.label.example.org/role=primary," +
                            "k8s.namespace=ledger",
                        peers: "k8s.label.example.org/role=standby,k8s.namespace=ledger",
                        radius: 1,
                    },
                ],
                window: { duration: "2m", grace: "0s" },
                checks: [{ kind: "http", service: "shop", namespace: "front", port: 80, path: "/health" }],
            },
        });
        expect(differences(experiment!)).toEqual(["metadata.labels", "spec.mode"]);
    });

    it("a pod-kill kills once; each document of a file is an experiment", () => {
        const [kill, partition] = imported(read("beacon.yaml"), added);
        expect(kill!.args.attacks).toEqual([
            {
                kind: "kill",
                intervalMs: 86_400_000,
                target: "k8s.label.app=relay,k8s.label.tier=edge|core,k8s.label.canary!=*,k8s.namespace=chain",
                radius: "50%",
            },
        ]);
        expect(kill!.args.window).toEqual({ duration: "30s", grace: "0s" });
        expect(differences(kill!)).toEqual([
            "0.spec.gracePeriod",
            "0.spec.action",
            "0.spec.mode",
            "0.spec.scheduler",
            "0.spec.duration",
        ]);
        expect(noted(kill!, "0.spec.action")).toContain("pods without a controller, pods of a Job");
        expect(partition!.args.attacks).toEqual([
            { kind: "blackhole", target: "k8s.label.app=validator,k8s.namespace=chain", radius: "all" },
        ]);
    });

    it("a Schedule holds one; pods are named, and its namespace by them", () => {
        const [experiment] = imported(read("schedule.yaml"), added);
        expect(experiment!.args.attacks).toMatchObject([
            { kind: "kill", target: "k8s.pod.name=broker-0|broker-1,k8s.namespace=streams" },
        ]);
        expect(differences(experiment!)).toEqual(
            expect.arrayContaining(["spec.schedule", "spec.concurrencyPolicy", "spec.historyLimit"]),
        );
    });

    it("a HTTPChaos is a fault through a Service that a person names", () => {
        const [experiment] = imported(read("http.yaml"), { ...added, service: "catalogue" });
        expect(experiment!.args.attacks).toEqual([
            {
                kind: "fault",
                service: "catalogue",
                delay: "500ms",
                target: "k8s.label.name=catalogue,k8s.namespace=sock-shop",
                radius: "all",
            },
        ]);
        expect(differences(experiment!)).toEqual(["spec.port", "spec.mode"]);
        expect(noted(experiment!, "spec.port")).toContain("also hits what the pods send to this port");
        expect(refusedOf(read("http.yaml"), added)).toEqual([expect.stringContaining("add --service NAME")]);
    });

    it("a StressChaos is a stress of its containers", () => {
        const [experiment] = imported(read("stress.yaml"), added);
        expect(experiment!.args.attacks).toEqual([
            {
                kind: "stress",
                cpu: "1500m",
                memory: "256M",
                target: "k8s.container.name=quotes,k8s.label.app=quotes,k8s.namespace=pricing",
                radius: "all",
            },
        ]);
        expect(experiment!.args.window).toEqual({ duration: "90s", grace: "0s" });
        expect(differences(experiment!)).toEqual(["spec.stressors.memory.size", "spec.stressors", "spec.mode"]);
        refuses("stress.yaml", added, [
            ["size: 256MB", "size: 10KB", "spec.stressors.memory.size", "from 1MiB"],
            ["load: 75", "load: 75\n      options: [--cpu-method all]", "spec.stressors.cpu.options", "--cpu-load"],
            ["  stressors:", "  stressngStressors: --cpu 2\n  stressors:", "spec.stressngStressors", "stress-ng"],
        ]);
    });

    it.each<[fields: string, match: object | undefined]>([
        ["path: /api/*\n  method: GET", { path: "/api/*", method: "GET" }],
        ["path: /api/orders", { path: "/api/orders" }],
        ["path: /*", undefined],
        ["request_headers: { x-request-id: mine }", { headers: { "x-request-id": "mine" } }],
    ])("a HTTPChaos with %j is of some requests", (fields, match) => {
        const text = edited("http.yaml", 'path: "*"', fields);
        const [experiment] = imported(text, { ...added, service: "catalogue" });
        expect((experiment!.args.attacks![0] as { match?: object }).match).toEqual(match);
    });

    it.each<[targets: string[], attack: object]>([
        [["api.example.com:443"], { peers: [{ host: "api.example.com", port: 443 }] }],
        [["203.0.113.7/32:443"], { peers: [{ host: "203.0.113.7", port: 443 }] }],
        [["[2001:db8::1]:443"], { peers: [{ host: "2001:db8::1", port: 443 }] }],
        [
            ["203.0.113.0/24:443", "203.0.113.7:443"],
            { peers: [{ cidr: "203.0.113.0/24" }, { host: "203.0.113.7", port: 443 }], ports: [443] },
        ],
    ])("a partition from the external targets %j is a blackhole of addresses", (targets, attack) => {
        for (const direction of ["to", "both"]) {
            const [experiment] = imported(external(targets, `direction: ${direction}`), added);
            expect(experiment!.args.attacks).toEqual([
                { kind: "blackhole", target: expect.any(String), radius: 1, ...attack },
            ]);
        }
    });

    it.each([
        ["mode:  one", 1, "here it counts containers of ready pods, and an attack hits whole pods"],
        ["mode: fixed\n  value: 2", 2, "here it counts containers of ready pods, and an attack hits whole pods"],
        ["mode: all", "all", "only ready pods"],
        ["mode: fixed-percent\n  value: '66'", "66%", "up to at least one since Chaos Mesh 2.2: 66% of 3 is 2; here"],
        ["mode: fixed-percent\n  value: '100'", "all", "only ready pods"],
    ])("%j counts pods there, and containers of ready pods here", (mode, radius, reason) => {
        const [experiment] = imported(edited("primary-partition.yaml", "mode: one", mode), added);
        expect(experiment!.args.attacks![0]!.radius).toBe(radius);
        expect(noted(experiment!, "spec.mode")).toContain(reason);
    });

    it.each([["catalogue"], ["catalogue.sock-shop:8080"], ["catalogue.sock-shop.svc.cluster.local"]])(
        "a HTTPChaos of the host %s is of the Service's requests",
        (host) => {
            const text = edited("http.yaml", 'path: "*"', `request_headers: { Host: "${host}" }`);
            expect(refusedOf(text, { ...added, service: "catalogue" })).toEqual([]);
        },
    );

    it("a HTTPChaos of requests that the pods send is refused: a fault would hit nothing", () => {
        for (const header of ["Host", "host"]) {
            const text = edited("http.yaml", 'path: "*"', `request_headers: { ${header}: "example.com" }`);
            const [refused, ...others] = refusedOf(text, { ...added, service: "catalogue" });
            expect(refused).toContain(`spec.request_headers.${header}: names another host than Service catalogue`);
            expect(refused).toContain("allowed: catalogue, catalogue.NAMESPACE");
            expect(refused).not.toContain("example.com");
            expect(others).toEqual([]);
        }
    });

    it("nodes are chosen by their labels, or by their names", () => {
        const selecting = (selector: string) =>
            imported(edited("primary-partition.yaml", "  selector:", `  selector:\n    ${selector}`), added)[0]!.args
                .attacks![0]!.target;
        expect(selecting("nodeSelectors: { topology.kubernetes.io/zone: a, disk: ssd }")).toContain(
            "k8s.zone=a,k8s.node.label.disk=ssd,",
        );
        expect(selecting("nodes: [one, two]")).toContain("k8s.node.name=one|two,");
    });

    describe("with placeholders in keys", () => {
        const kill = (selector: object) => chaos("PodChaos", { action: "pod-kill", mode: "all", selector });
        const set = { x: "shop" };

        it.each<[selector: object, target: string]>([
            [{ pods: { "{{ x }}": ["kv-0"] } }, "k8s.pod.name=kv-0,k8s.namespace=shop"],
            [{ labelSelectors: { "${x}": "a" } }, "k8s.label.shop=a,k8s.namespace=shop"],
        ])("%j takes their values, and lacks them otherwise", (selector, target) => {
            expect(only(kill(selector), { ...added, set }).args.attacks).toMatchObject([{ target }]);
            expect(refusedOf(kill(selector), added)).toEqual([expect.stringContaining("--set x=…")]);
        });

        it.each<[labels: object, reason: string]>([
            [{ "{{ .Values.x | quote }}": "a" }, "has a placeholder in a key"],
            [{ "{{x}}": "a", shop: "b" }, "has a key twice"],
        ])("%j is refused: %s", (labelSelectors, reason) =>
            expect(refusedOf(kill({ labelSelectors }), { ...added, set }).join("\n")).toContain(
                `spec.selector.labelSelectors: ${reason}`,
            ),
        );
    });

    it.each<[selector: object, path: string, reason: string]>([
        [{ labelSelectors: { version: 1.1 } }, "labelSelectors.version", "is no text: write it in quotes"],
        [{ labelSelectors: { app: null } }, "labelSelectors.app", "is no text: write it in quotes"],
        [{ labelSelectors: { app: ["a"] } }, "labelSelectors.app", "is a list or an object"],
        [
            { expressionSelectors: [{ key: "v", operator: "In", values: [1.1] }] },
            "expressionSelectors.0.values.0",
            "is no text: write it in quotes",
        ],
        [
            { expressionSelectors: [{ key: "app", operator: "In", values: ["a"], value: "b" }] },
            "expressionSelectors.0.value",
            "has no counterpart",
        ],
        [
            { expressionSelectors: [{ key: "app", operator: "Exists", values: ["a"] }] },
            "expressionSelectors.0.values",
            "must be empty",
        ],
        [{ expressionSelectors: [{ operator: "In", values: ["a"] }] }, "expressionSelectors.0.key", "is missing"],
    ])("the selector %j is refused at %s: %s", (selector, path, reason) =>
        expect(refusedOf(chaos("PodChaos", { action: "pod-kill", mode: "all", selector }), added)).toEqual([
            expect.stringContaining(`spec.selector.${path}: ${reason}`),
        ]),
    );

    it("pods of a namespace for which none is named are none", () => {
        const pods = { shop: ["kv-0"], demo: [] };
        const { args } = only(chaos("PodChaos", { action: "pod-kill", mode: "all", selector: { pods } }));
        expect(args.attacks).toMatchObject([{ target: "k8s.pod.name=kv-0,k8s.namespace=shop" }]);
    });

    it("what cannot be said of one document does not refuse the others", () => {
        const text = edited("beacon.yaml", "action: pod-kill", "action: container-kill");
        const { experiments, refused } = importExperiments(documentsIn(text), added);
        expect(experiments.map(({ name }) => name)).toEqual(["validators-alone"]);
        expect(refused).toEqual([{ path: "0.spec.action", reason: expect.stringContaining("leaves its pod") }]);
    });

    it("experiments of the same name get different ones, and that is said", () => {
        const [first, second] = imported(edited("beacon.yaml", "name: relay-kill", "name: validators-alone"), added);
        expect([first!.name, second!.name]).toEqual(["validators-alone", "validators-alone-2"]);
        expect(noted(second!, "1.metadata.name")).toContain("is validators-alone-2 here");
    });

    it("what Chaos Mesh ignores is reported, not refused", () => {
        const kill = edited("beacon.yaml", "action: pod-kill", "action: pod-kill\n  containerNames: [main]");
        expect(noted(imported(kill, added)[0]!, "0.spec.containerNames")).toContain("Chaos Mesh ignores it");
        const one = edited("primary-partition.yaml", "mode: one", "mode: one\n  value: '3'");
        const [experiment] = imported(one.replace("    mode: all", "    mode: all\n    value: '1'"), added);
        expect(experiment!.args.attacks![0]!.radius).toBe(1);
        expect(noted(experiment!, "spec.value")).toContain("Chaos Mesh ignores it");
    });

    it("a block without a port is not said to have another port than others", () => {
        const refused = refusedOf(external(["203.0.113.0/24"], "direction: to"), added);
        expect(refused).toEqual([expect.stringContaining("nothing is known to answer in 203.0.113.0/24")]);
    });

    it("an empty selector is of all pods in the object's namespace, as in Chaos Mesh", () => {
        const text = edited(
            "beacon.yaml",
            /  selector:\n    labelSelectors:\n      app: validator\n    podPhase.*/,
            "  selector: {}",
        );
        expect(imported(text, added)[1]!.args.attacks).toEqual([
            { kind: "blackhole", target: "k8s.namespace=chain", radius: "all" },
        ]);
    });

    it("a name that is too long is cut, and that is said", () => {
        const [experiment] = imported(edited("http.yaml", "catalogue-slow", "catalogue-".repeat(5)), {
            ...added,
            service: "catalogue",
        });
        expect(experiment!.name).toBe("catalogue-catalogue-catalogue-catalogue-catal");
        expect(noted(experiment!, "metadata.name")).toContain(`is cut to ${experiment!.name}`);
    });

    it("texts of a file cannot control a terminal, in remarks and in what is written", () => {
        const text = JSON.stringify({
            apiVersion: "chaos-mesh.org/v1alpha1",
            kind: "NetworkChaos",
            metadata: { name: "one", namespace: "shop", "\u001b[2Jx\u202e": 1 },
            spec: { action: "partition", mode: "all", direction: "both", duration: "10s", selector: {}, "\u0085y": 1 },
        });
        const said = { ...added, hypothesis: "It \u009bholds\u202e." };
        expect(refusedOf(text, said).join()).toBe("spec. y: has no counterpart");
        const written = writtenAs(imported(text.replace(/,"\u0085y":1/, ""), said), "a\u001b[1m.yaml");
        expect(written).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
        expect(written).toContain('hypothesis: "It \\u{9b}holds\\u{202e}."');
    });

    it("wants a hypothesis and a check, which no file of Chaos Mesh has", () => {
        expect(refusedOf(read("primary-partition.yaml"))).toEqual([
            expect.stringContaining("add --hypothesis TEXT"),
            expect.stringContaining("add --check URL"),
        ]);
    });

    it("is refused with the path of what cannot be said, and all of it at once", () => {
        const named = { ...added, service: "catalogue" };
        const ofLedger = "    namespaces:\n      - ledger";
        refuses("primary-partition.yaml", named, [
            ["action: partition", "action: corrupt", "spec.action", "corrupt: changes bits"],
            ["    mode: all", "    mode: one", "spec.target.mode", "one: is of one of them by chance"],
            ["both", "both\n  externalTargets: [example.org:443]", "spec.target", "peers are either pods or addresses"],
            [/  target:\n(    .*\n)+/, "  target: {}\n", "spec.target.mode", "is missing"],
            [
                ofLedger,
                "    nodes: [a]\n    nodeSelectors: {b: c}",
                "spec.selector.nodeSelectors",
                "is for further nodes",
            ],
            [ofLedger, "    annotationSelectors: {a: b}", "spec.selector.annotationSelectors", "nearest: a label"],
            [ofLedger, "    namespaces: ['']", "spec.selector.namespaces.0", "is empty"],
        ]);
        const pods = "spec.podChaos.selector.pods.streams";
        refuses("schedule.yaml", named, [
            [/          - broker-0\n.*\n/, "          []\n", pods, "names no pod"],
            [/streams:\n(.*\n){2}/, "streams: null\n      labelSelectors: {app: one}\n", pods, "names no pod"],
            ["PodChaos", "IOChaos", "spec.type", "IOChaos: delays, fails or changes what a container reads"],
            ["PodChaos", "OtherChaos", "spec.type", '"OtherChaos" has no counterpart; has one: PodChaos, NetworkChaos'],
        ]);
        const ofValidators = /    labelSelectors:\n      app: validator\n    podPhase.*\n/;
        refuses("beacon.yaml", named, [
            ["values: [edge, core]", "values: []", "0.spec.selector", "k8s.label.tier has no value"],
            ["values: [edge, core]", 'values: ["*"]', "0.spec.selector", "no target can say that"],
            ["{ app: relay }", '{ "a=b,c": d }', "0.spec.selector", "no target can"],
            [ofValidators, "", "1.spec.selector", "is missing: write {} for all pods of the namespace"],
            ['value: "50"', 'value: ""', "0.spec.value", "is missing"],
            ['value: "50"', 'value: "150"', "0.spec.value", "is not a number from 1 to 100"],
            ['["Running"]', '["Pending"]', "1.spec.selector.podPhaseSelectors", "only running pods"],
        ]);
        refuses("http.yaml", named, [
            ['path: "*"', "path: /*/orders", "spec.path", "is neither a path such as"],
            ['path: "*"', "path: /order?", "spec.path", "is neither a path such as"],
            ['path: "*"', "path: api", "spec.path", "is neither a path such as"],
            ['path: "*"', 'path: ""', "spec.path", "is empty, so no request matches"],
            ['path: "*"', 'method: ""', "spec.method", "is empty, so no request matches"],
            ['path: "*"', "method: get", "spec.method", '"get" is not a method'],
            ['path: "*"', "request_headers: {Cookie: id=7}", "spec.request_headers", "Cookie: has a value"],
            ["delay: 500ms", "delay: 500ms\n  abort: true", "spec.delay", "has no effect there"],
            ["delay: 500ms", "replace: {code: 503}", "spec.replace", "changes what is sent"],
            ["delay: 500ms", "delay: soon", "spec.delay", '"soon" is not allowed'],
            ["duration: 1m", "duration: 100ms", "spec.duration", '"100ms" is not allowed'],
            ["name: catalogue-slow", "name: 混沌测试", "metadata.name", '"混沌测试" has nothing that'],
            [/  name: catalogue-slow\n/, "", "metadata.name", "is missing"],
        ]);
        for (const [targets, direction, path, reason] of [
            [["203.0.113.0/24:443"], "to", "spec.externalTargets", "nothing is known to answer in 203.0.113.0/24"],
            [["203.0.113.0/24:443", "198.51.100.0/24:80"], "to", "spec.externalTargets", "different ports"],
            [["example.org:443", ""], "to", "spec.externalTargets.1", "is empty"],
        ] as const)
            expect(refusedOf(external(targets, `direction: ${direction}`), added)).toContainEqual(
                expect.stringMatching(new RegExp(`^${path}: .*${reason}`, "s")),
            );
    });
});

describe("an experiment of Steadybit", () => {
    it("takes attack, window and checks from the lanes, by their times", () => {
        const [experiment] = imported(read("shop.json"));
        expect(experiment).toMatchObject({
            name: "listing-survives-without-deals",
            args: {
                hypothesis: "The listing answers while one container of deals is cut off.",
                attacks: [{ kind: "blackhole", target: "k8s.deployment=deals,k8s.namespace=shop", radius: 1 }],
                window: { duration: "1m", grace: "0s" },
                checks: [
                    {
                        kind: "http",
                        name: "the listing answers",
                        service: "gateway",
                        namespace: "shop",
                        port: 8080,
                        path: "/products?all=true",
                        headers: { "X-Tenant": "demo" },
                        status: [200, 299],
                        perSecond: 10,
                        successRate: 0.95,
                        timeoutMs: 5_000,
                        maxLatencyMs: 800,
                    },
                ],
            },
        });
        expect(differences(experiment!).sort()).toEqual([
            "environment",
            "key",
            "lanes.0.steps.0.parameters.connectTimeout",
            "lanes.0.steps.0.parameters.duration",
            "lanes.0.steps.0.parameters.maxConcurrent",
            "lanes.1.steps.0",
            "lanes.1.steps.0.parameters.podCountCheckMode",
            "lanes.1.steps.2.customLabel",
            "lanes.1.steps.2.radius",
            "lanes.1.steps.2.radius.maximum",
            "lanes.2.steps.0",
            "tags",
            "team",
        ]);
    });

    it("a hypothesis of the command is in place of the file's, and does if the file has none", () => {
        const said = { ...fromFile, hypothesis: "It holds." };
        expect(imported(read("shop.json"), said)[0]!.args.hypothesis).toBe("It holds.");
        expect(imported(edited("shop.json", /"hypothesis": .*\n/, ""), said)[0]!.args.hypothesis).toBe("It holds.");
    });

    /** A file with a Deployment scaled to 0 for 180 s. */
    const scaled = (file: string, edit: (lanes: { steps: unknown[] }[], scale: object) => void): string => {
        const experiment = JSON.parse(read(file)) as { lanes: { steps: unknown[] }[] };
        edit(experiment.lanes, {
            type: "action",
            parameters: { duration: "180s", replicaCount: 0 },
            actionType: "com.steadybit.extension_kubernetes.scale_deployment",
            radius: { query: `k8s.namespace="${file === "shop.json" ? "shop" : "pay"}" AND k8s.deployment="deals"` },
        });
        return JSON.stringify(experiment);
    };

    it("a Deployment scaled for a time after a pod is deleted makes a window of that time", () => {
        const text = scaled("pod-loss.json", ([lane], scale) => lane!.steps.splice(2, 1, scale));
        const [experiment] = imported(text, { checks: added.checks });
        expect(experiment!.args).toMatchObject({
            actions: [{ kind: "scale", deployment: "deals", replicas: 0 }],
            window: { duration: "3m", grace: "0s" },
        });
        expect(noted(experiment!, "lanes.0.steps.2.parameters.duration")).toBe("");
        expect(noted(experiment!, "lanes.0.steps.1")).not.toContain("default");
    });

    it("a Deployment scaled for longer than the attack says when it is scaled back", () => {
        const text = scaled("shop.json", (lanes, scale) => {
            lanes[1]!.steps.splice(0, 2);
            lanes.push({ steps: [scale] });
        });
        const [experiment] = imported(text);
        expect(experiment!.args).toMatchObject({ actions: [{ kind: "scale" }], window: { duration: "1m" } });
        expect(noted(experiment!, "lanes.3.steps.0.parameters.duration")).toContain("after a window of 1m");
    });

    it.each([
        [
            '"percentage": 50',
            "50%",
            "there it counts pods, ready or not, and rounds to the nearest: 66% of 3 is 2; here",
        ],
        ['"percentage": 100', "all", "there it counts pods, ready or not; here only ready pods"],
        ['"maximum": 1', 1, "there it counts pods, ready or not; here it counts containers"],
    ])("Delete Pod with %s counts pods, and says which it leaves alone", (amount, radius, reason) => {
        const [experiment] = imported(read("pod-loss.json").replace('"percentage": 50', amount));
        expect(experiment!.args.attacks![0]!.radius).toBe(radius);
        expect(noted(experiment!, `lanes.0.steps.1.radius.${/\w+/.exec(amount)![0]}`)).toContain(reason);
        expect(noted(experiment!, "lanes.0.steps.1")).toContain("pods without a controller, pods of a Job");
    });

    it("says of tags that they have no counterpart, and of the environment what is in its place", () => {
        const [experiment] = imported(read("shop.json"));
        expect(noted(experiment!, "tags")).toBe("has no counterpart");
        expect(noted(experiment!, "environment")).toContain("the kubeconfig");
    });

    it("YAML, without an attack: a rollout is an action, and checks are those that cover its begin", () => {
        const [experiment] = imported(read("rollout.yml"));
        expect(experiment!.args).toMatchObject({
            namespace: "orders",
            actions: [{ kind: "rollout", deployment: "orders" }],
            window: { duration: "3m" },
            checks: [
                {
                    name: "THEN: orders are accepted",
                    method: "POST",
                    body: { product: "tea", count: 1 },
                    perSecond: 2,
                    status: 201,
                    url: "https://orders.example.com",
                    path: "/orders",
                },
            ],
        });
        expect(experiment!.args.attacks).toBeUndefined();
        expect(differences(experiment!)).toContain("lanes.0.steps.0");
    });

    it("a deleted pod is killed once, and checked as long as the check after it", () => {
        const [experiment] = imported(read("pod-loss.json"));
        expect(experiment!.args).toMatchObject({
            attacks: [
                {
                    kind: "kill",
                    intervalMs: 86_400_000,
                    target: "k8s.label.app=payments|payments-canary,k8s.namespace=pay",
                    radius: "50%",
                },
            ],
            window: { duration: "1m", grace: "0s" },
            checks: [{ service: "payments", namespace: "pay", path: "/ready", successRate: 0.99 }],
        });
    });

    it("hosts and addresses with ports are peers", () => {
        const lists = '"hostname": ["api.example.com"], "ip": ["203.0.113.7", "203.0.113.0/24"], "port": ["443", "80"]';
        const text = edited("shop.json", /"hostname": \[\],\s*"ip": \[\],\s*"port": \[\]/, lists);
        expect(imported(text)[0]!.args.attacks).toMatchObject([
            {
                kind: "blackhole",
                peers: [
                    { cidr: "203.0.113.0/24" },
                    ...["api.example.com", "203.0.113.7"].flatMap((host) => [
                        { host, port: 443 },
                        { host, port: 80 },
                    ]),
                ],
                ports: [443, 80],
            },
        ]);
    });

    it.each<[string, string, string?]>([
        ["k8s.node.label.disk", "k8s.node.label.disk"],
        ["k8s.node.label.topology.kubernetes.io/zone", "k8s.zone"],
        ["k8s.label.topology.kubernetes.io/region", "k8s.region"],
        ["k8s.pod.label.kubernetes.io/os", "k8s.label.kubernetes.io/os"],
        ["k8s.node.name", "k8s.node.name"],
        ["host.hostname", "host.hostname", "is the name that the host has itself there, and the node's here"],
        ["container.image", "container.image", "is there as the container runtime names it"],
        ["k8s.container.image", "container.image"],
    ])("%s is the attribute %s, and it is reported if what it has there may differ", (key, attribute, difference) => {
        const [experiment] = imported(edited("shop.json", '"k8s.deployment"', JSON.stringify(key)));
        expect(experiment!.args.attacks![0]!.target).toBe(`${attribute}=deals,k8s.namespace=shop`);
        const notes = noted(experiment!, "lanes.1.steps.2.radius");
        if (difference === undefined) expect(notes).not.toContain(key);
        else expect(notes).toContain(`${key} ${difference}`);
    });

    it.each([
        ['k8s.pod.label.tier!="edge"', "k8s.label.tier!=edge"],
        ['"k8s.pod.label.a/b" = one', "k8s.label.a/b=one"],
        ['k8s.deployment IN ("a", b)', "k8s.deployment=a|b"],
        ["k8s.deployment not in (a, b)", "k8s.deployment!=a|b"],
        ["k8s.pod.label.tier IS PRESENT", "k8s.label.tier=*"],
        ["k8s.pod.label.tier IS NOT PRESENT", "k8s.label.tier!=*"],
        ['NOT k8s.deployment="a"', "k8s.deployment!=a"],
        ['NOT k8s.deployment NOT IN ("a")', "k8s.deployment=a"],
        ['// only "these"\nk8s.container.image="a//b" // and no others', "container.image=a//b"],
    ])("the query %s is the condition %s", (part, condition) => {
        const text = edited(
            "shop.json",
            /"predicate": \{[^]*?\]\s*\},\s*"query": null/,
            `"query": ${JSON.stringify(`k8s.namespace IN ("shop") AND k8s.namespace IS PRESENT and ${part}`)}`,
        );
        expect(imported(text)[0]!.args.attacks![0]!.target).toBe(`${condition},k8s.namespace=shop`);
    });

    it("NOT_EQUALS excludes values", () => {
        const text = edited("shop.json", 'deployment", "operator": "', 'deployment", "operator": "NOT_');
        expect(imported(text)[0]!.args.attacks![0]!.target).toBe("k8s.deployment!=deals,k8s.namespace=shop");
    });

    it("an address with a placeholder is not said to be missing", () => {
        expect(refusedOf(edited("shop.json", "gateway.shop.svc", "{{gateway}}")).join()).not.toContain("is missing");
    });

    it("settings of a check that change nothing are no obstacle", () => {
        const settings = '"insecureSkipVerify": "false", "failEarly": ';
        const [off] = imported(edited("shop.json", '"method": "GET"', `"method": "GET", ${settings} false`));
        expect(noted(off!, "lanes.0.steps.0.parameters.failEarly")).toBe("");
        const [on] = imported(edited("shop.json", '"method": "GET"', `"method": "GET", ${settings} true`));
        expect(noted(on!, "lanes.0.steps.0.parameters.failEarly")).toContain("abortBelow");
    });

    it("a long attack has the default deadline, which has room for it", () => {
        const long = read("shop.json").replaceAll('"120s"', '"40m"').replace('"60s"', '"30m"');
        expect(imported(long)[0]!.args).toMatchObject({ window: { duration: "30m" } });
        expect(imported(long)[0]!.args).not.toHaveProperty("deadline");
    });

    it("is refused with the path of what cannot be said", () => {
        const [look, attack] = ["lanes.0.steps.0.parameters", "lanes.1.steps.2"];
        const [radius, port] = [`${attack}.radius`, `${attack}.parameters.port`];
        const tests = `${radius}.predicate.predicates.2`;
        const noIp = /"ip": \[\],\s*"port": \[\]/;
        refuses("shop.json", fromFile, [
            ["network_blackhole", "network_tcp_reset", `${attack}.actionType`, "network_tcp_reset: resets"],
            [noIp, '"ip": ["203.0.113.7"], "port": ["80-90"]', port, "is not a list of ports such as 443"],
            [
                noIp,
                '"ip": ["203.0.113.0/24"], "port": ["80"]',
                `${attack}.parameters.ip`,
                "nothing is known to answer in 203.0.113.0/24",
            ],
            ['"port": []', '"port": ["5432"]', port, "ports of Services count"],
            ['"maximum": 1', '"percentage": 50, "maximum": 40', `${radius}.maximum`, "omit one"],
            ['"maximum": 1', '"list": ["a"]', `${radius}.list`, "has no counterpart"],
            ['"maximum": 1', '"x": null', radius, "neither percentage nor maximum"],
            ['"key": "k8s.deployment", ', "", `${tests}.key`, "is missing"],
            ['"values": ["deals"]', '"values": ["[[d]]"]', "", "give them values by --set d=…"],
            ['"values": ["deals"]', '"values": []', radius, "k8s.deployment has no value"],
            ['"values": ["deals"]', '"values": ["*"]', radius, "no target can say that"],
            ['"values": ["shop"]', '"values": ["shop", "b"]', radius, "several namespaces"],
            ['"k8s.cluster-name"', '"k8s.namespace"', radius, "several namespaces"],
            ['"key": "k8s.namespace"', '"key": "k8s.label.a"', radius, "add --namespace NAME"],
            ['"key": "k8s.namespace"', '"key": "aws.zone"', radius, "aws.zone has no counterpart"],
            ['"k8s.deployment"', '"constructor"', radius, "constructor has no counterpart"],
            ['"k8s.deployment"', '"k8s.job"', radius, "k8s.job has no counterpart"],
            [
                /"EQUALS", "values": \["deals/,
                '"CONTAINS", "values": ["deals',
                `${tests}.operator`,
                "has no counterpart; has one: EQUALS",
            ],
            [
                '"5s"',
                '"5s", "insecureSkipVerify": "true"',
                `${look}.insecureSkipVerify`,
                "certificates are always verified",
            ],
            [
                '"value": "demo" }',
                '"value": "demo" }, { "key": "x-tenant", "value": "a" }',
                `${look}.headers`,
                "names a header twice",
            ],
            ["X-Tenant", "Authorization", `${look}.headers`, "Authorization: has"],
            ['"200-299"', '"200;204"', `${look}.statusCode`, "is not one status"],
            ['"followRedirects": false', '"followRedirects": true', `${look}.followRedirects`, "redirects"],
            ['"responsesContains": ""', '"responsesContains": "x"', `${look}.responsesContains`, "JSON"],
            ["gateway.shop.svc.cluster.local", "gateway", `${look}.url`, "NAME.NAMESPACE.svc"],
            ['"5s"', '"5h"', `${look}.readTimeout`, "18000000"],
            ['"duration": "120s"', '"duration": "30s"', "", "add --check URL"],
        ]);
        const step = "lanes.1.steps.1";
        refuses("rollout.yml", fromFile, [
            ['k8s.deployment="', 'k8s.deployment!="', `${step}.radius`, "exactly one"],
            ['k8s.deployment="orders"', "k8s.deployment IS PRESENT", `${step}.radius`, "exactly"],
            [' AND k8s.deployment="orders"', "", `${step}.radius`, "exactly one Deployment"],
            ['k8s.namespace="', 'k8s.namespace!="', `${step}.radius`, "excludes a namespace"],
            [/ AND k8s.namespace=.*/, "", `${step}.radius`, "selects every target of the cluster"],
            ['orders" AND', 'orders" OR', `${step}.radius.query`, "has no counterpart; have one: =, !=, IN"],
            ['wait: "true"', "duration: 60s", `${step}.parameters.duration`, "set timeoutMs"],
        ]);
    });

    it("no value of a field that may hold a secret is repeated", () => {
        const secret = "hunter2-Zq8";
        for (const [before, after] of [
            ['"value": "demo"', `"value": ["${secret}"]`],
            ["http://gateway.shop", `http://user:${secret}@gateway.shop`],
            ['"readTimeout": "5s"', `"readTimeout": "${secret}"`],
            ['"X-Tenant", "value": "demo"', `"Authorization", "value": "Bearer ${secret}"`],
            ['"X-Tenant", "value": "demo"', `"X-Tenant: ${secret}", "value": "demo"`],
            ["products?all=true", `products?password=${secret}`],
            ["products?all=true", `products?key=[[key]]${secret}`],
            ['"method": "GET"', `"method": "POST", "body": "${secret}"`],
            ['"method": "GET"', `"method": "POST", "body": "{\\"password\\": \\"${secret}\\"}"`],
            ['"method": "GET"', `"X-Tenant: ${secret}": "GET"`],
        ] as const) {
            const refused = refusedOf(edited("shop.json", before, after));
            expect(refused.length).toBeGreaterThan(0);
            expect(refused.join("\n")).not.toContain(secret);
        }
    });
});

it("the items of a list are experiments", () => {
    const items = [chaos("NetworkChaos", { ...everyPod, action: "partition", direction: "both" })];
    const list = { apiVersion: "v1", kind: "List", items: items.map((item) => JSON.parse(item) as object) };
    expect(imported(JSON.stringify(list), added).map(({ name }) => name)).toEqual(["one"]);
});

it("a file of something else is refused", () => {
    expect(refusedOf("kind: Deployment\napiVersion: apps/v1")).toEqual([
        expect.stringContaining('"Deployment" of apps/v1 is neither an experiment'),
    ]);
    expect(refusedOf("[1, 2]")).toEqual(["0: is not an object", "1: is not an object"]);
    expect(refusedOf("just a text")).toEqual([": is not an object"]);
    expect(refusedOf("spec: {}\nname: a")).toEqual([expect.stringMatching(/^: what has no kind is neither /)]);
    expect(refusedOf("kind: PodChaos\nname: a")).toEqual([
        expect.stringMatching(/^kind: "PodChaos" of no apiVersion is neither .* nor an object of chaos-mesh\.org\./),
    ]);
    expect(() => documentsIn("{{ .Values }}: [")).toThrow("it is a template, with {{ … }}");
    expect(() => documentsIn("a: [")).toThrow();
    expect(refusedOf("")).toEqual([expect.stringContaining("has no document")]);
});

it.each<[text: string, what: string]>([
    ["apiVersion: litmuschaos.io/v1alpha1\nkind: ChaosEngine", '"ChaosEngine" of litmuschaos.io/v1alpha1 is neither'],
    ['{"title": "t", "method": []}', "an experiment of Chaos Toolkit is neither"],
    ["pvc_scenario: {pvc_name: a}", "a scenario of krkn is neither"],
    ["- id: kill-pods\n  config: {kill: 1}", "a scenario of krkn is neither"],
])("a file of another tool, %s, is refused with what it is", (text, what) =>
    expect(refusedOf(text)).toEqual([
        expect.stringMatching(new RegExp(`${what}.* by hand, as the nearest of blackhole, .*, stress$`)),
    ]),
);

it("an engine of Litmus is refused with what comes nearest to each of its experiments", () => {
    const names = ["pod-delete", "pod-cpu-hog", "pod-network-loss", "pod-http-latency", "pod-dns-error", "disk-fill"];
    const engine = { apiVersion: "litmuschaos.io/v1alpha1", kind: "ChaosEngine" };
    const spec = { experiments: names.map((name) => ({ name })) };
    const [reason] = refusedOf(JSON.stringify({ ...engine, spec }));
    expect(reason).toMatch(/^kind: "ChaosEngine" of litmuschaos\.io\/v1alpha1 is neither /);
    expect(reason).toContain("nearest to pod-delete: kill, to pod-cpu-hog: stress, to pod-network-loss: blackhole, ");
    expect(reason).toContain("to pod-http-latency: fault, to pod-dns-error: dns, to disk-fill: nothing");
});

it.each(["2024-01-15", "2024-01-15T10:00:00Z"])("%s is a text without quotes, too, as kubectl reads it", (date) =>
    expect(documentsIn(`release: ${date}`)).toEqual([{ release: date }]),
);

it("what << merges into an object is read", () =>
    expect(documentsIn("a: &a { b: 1 }\nc: { <<: *a }")).toEqual([{ a: { b: 1 }, c: { b: 1 } }]));

it("what is written compiles against the package, for each file", () => {
    const sources = readdirSync(files).map((file) => {
        const additions = /yaml$/.test(file) ? { ...added, service: "catalogue" } : fromFile;
        return [join(__dirname, `${file}.ts`), writtenAs(imported(read(file), additions), file)] as const;
    });
    const [{ args }] = imported(external(["203.0.113.7:443"], "direction: to"), added) as [Imported];
    const names = ["delete", "await", "global-this", "web-1", "web1", "web-1-a", "web1-a", "2nd", "n-2nd"];
    sources.push([
        join(__dirname, "names.ts"),
        writtenAs(
            names.map((name) => ({ name, args, differences: [] })),
            "names",
        ),
    ]);
    const written = new Map(sources);
    const { config } = ts.readConfigFile("tsconfig.json", (path) => ts.sys.readFile(path)) as { config: any };
    const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, process.cwd());
    const host = ts.createCompilerHost(options);
    const getSourceFile = host.getSourceFile.bind(host);
    host.getSourceFile = (name, ...rest) =>
        written.has(name) ? ts.createSourceFile(name, written.get(name)!, rest[0]) : getSourceFile(name, ...rest);
    const program = ts.createProgram([...written.keys()], options, host);
    const problems = [...written.keys()].flatMap((name) => {
        const source = program.getSourceFile(name)!;
        return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    });
    expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))).toEqual([]);
}, 60_000);
