import { describe, expect, it } from "vitest";
import { added, differences, fromFile, imported, noted, only, refusedOf } from "../support";

const com = "com.steadybit.extension_";
const deployment = 'k8s.namespace="shop" AND k8s.deployment="orders"';

const step = (actionType: string, parameters: object = {}, more: object = {}) => ({
    type: "action",
    actionType: com + actionType,
    parameters: { duration: "60s", ...parameters },
    radius: { query: deployment, percentage: 100 },
    ...more,
});
const wait = (duration: string) => ({ type: "wait", parameters: { duration } });
const experiment = (...lanes: object[][]) =>
    JSON.stringify({ name: "One", hypothesis: "It holds.", lanes: lanes.map((steps) => ({ steps })) });

const withChecks = { checks: added.checks };
const attackOf = (text: string, additions: object = {}) => only(text, { ...withChecks, ...additions }).args.attacks![0];
const [parameters, radius] = ["lanes.0.steps.0.parameters", "lanes.0.steps.0.radius"];

describe("an attack", () => {
    it.each<[actionType: string, fields: object, attack: object, path: string, difference: string]>([
        ["container.stress_cpu", { cpuLoad: 80, workers: 2 }, { kind: "stress", cpu: "80%" }, "cpuLoad", "limit"],
        [
            "container.stress_mem",
            { percentage: "70", failOnOomKill: false },
            { kind: "stress", memory: "70%" },
            "failOnOomKill",
            "untilKilled",
        ],
        [
            "container.fill_mem",
            { mode: "usage", unit: "%", size: 50 },
            { kind: "stress", memory: "50%" },
            "mode",
            "on top of what the container uses",
        ],
        [
            "container.network_package_loss",
            { networkLoss: 100, hostname: [], ip: [], port: [] },
            { kind: "blackhole" },
            "networkLoss",
            "UDP goes in there",
        ],
        [
            "container.network_bandwidth",
            { bandwidth: "1024kbit" },
            { kind: "fault", service: "orders", bytesPerSecond: 128_000 },
            "bandwidth",
            "each answer",
        ],
        [
            "container.network_delay",
            { networkDelay: "300ms", networkDelayJitter: true, networkInterface: ["eth0"] },
            { kind: "fault", service: "orders", delay: "300ms" },
            "networkDelay",
            "through Service orders is held once",
        ],
    ])("%s with %j is %j, and says at %s: %s", (type, fields, attack, key, difference) => {
        const one = only(experiment([step(type, fields)]), { ...withChecks, service: "orders" });
        const target = "k8s.deployment=orders,k8s.namespace=shop";
        expect(one.args.attacks).toEqual([{ ...attack, target, radius: "all" }]);
        expect(one.args.window).toEqual({ duration: "1m", grace: "0s" });
        expect(noted(one, `${parameters}.${key}`)).toContain(difference);
    });

    it.each([{ signal: "9" }, {}])("of a crash loop with %j says at its step how that differs", (signal) => {
        const one = only(experiment([step("kubernetes.crash_loop_pod", { container: "main", ...signal })]), withChecks);
        const target = "k8s.container.name=main,k8s.deployment=orders,k8s.namespace=shop";
        expect(one.args.attacks).toEqual([{ kind: "fail", target, radius: "all" }]);
        expect(noted(one, "lanes.0.steps.0")).toContain("here they do not run until the end");
        expect(noted(one, `${parameters}.signal`)).toBe("");
    });

    it.each<[actionType: string, fields: object, path: string, wrong: string]>([
        ["container.network_delay", { networkDelay: "2h" }, "parameters.networkDelay", '"2h"'],
        ["container.network_bandwidth", { bandwidth: "9999gbps" }, "parameters.bandwidth", "9999000000000"],
        ["container.network_blackhole", { hostname: ["a b"] }, "parameters.hostname", '"a b"'],
        ["container.network_blackhole", { ip: ["1.2.3.4.5"] }, "parameters.ip", '"1.2.3.4.5"'],
        [
            "container.network_blackhole",
            { ip: ["203.0.113.7"], port: ["70000"] },
            "parameters.port",
            "of ports such as",
        ],
    ])("%s with %j has its mistake named at the file's own field %s", (type, fields, path, wrong) => {
        const refused = refusedOf(experiment([step(type, fields)]), { ...withChecks, service: "orders" });
        expect(refused.length).toBeGreaterThan(0);
        for (const each of refused) expect(each).toMatch(new RegExp(`^lanes\\.0\\.steps\\.0\\.${path}: .*`));
        expect(refused.join()).toContain(wrong);
    });

    it.each<[key: string, radius: object]>([
        ["percentage", { percentage: 0 }],
        ["advanced", { advanced: [{ attribute: "k8s.pod.name", value: "0#" }] }],
        ["advanced", { advanced: [{ attribute: "k8s.pod.name", value: "150%" }] }],
    ])("of a wrong number of targets is refused at %s, %j", (key, amount) => {
        const all = { radius: { query: deployment, ...amount } };
        const refused = refusedOf(experiment([step("container.network_blackhole", {}, all)]), withChecks);
        expect(refused).toEqual([expect.stringMatching(new RegExp(`^${radius}.${key}: .* is not a radius`))]);
    });

    it.each<[actionType: string, fields: object, path: string, reason: string]>([
        ["container.network_package_loss", { networkLoss: 30 }, `${parameters}.networkLoss`, "Nearest: a fault"],
        ["container.network_delay", { networkDelay: "1s" }, `${parameters}.networkDelay`, "With --service NAME"],
        ["container.network_delay", { hostname: ["db.example"] }, `${parameters}.hostname`, "nearest is one at the Se"],
        ["container.fill_mem", { unit: "MB", size: 50 }, `${parameters}.unit`, '"MB" has no counterpart'],
        ["container.stress_cpu", {}, `${parameters}.cpuLoad`, "is missing"],
        ["container.network_blackhole", { excludeHostname: ["a"] }, `${parameters}.excludeHostname`, "no counterpart"],
    ])("%s with %j is refused at %s: %s", (type, fields, path, reason) =>
        expect(refusedOf(experiment([step(type, fields)]), withChecks).join("\n")).toMatch(
            new RegExp(`^${path}: .*${reason}`, "m"),
        ),
    );

    it.each([
        ["container.stop", "Nearest: Delete Pod"],
        ["container.pause", "Nearest: Cause Crash Loop"],
        ["container.fill_disk", "nothing comes near"],
        ["kubernetes.drain_node", "by: eviction"],
        ["kubernetes.scale_statefulset", "Nearest: Delete Pod"],
        ["host.network_blackhole", 'k8s.node.name="NAME"'],
        ["host_windows.stress-cpu", 'k8s.node.name="NAME"'],
        ["aws.ecs-task.stress_cpu", "outside of Kubernetes"],
        ["k6.run", "nearest: a load with `k6`, whose image has the script"],
        ["jmeter.run", "the action load"],
        ["kubernetes.nginx-delay-traffic", "written by hand: a fault"],
        ["kubernetes.envoy-gateway-http-route-delay", "written by hand: a fault"],
        ["host.shutdown", "Nearest: Delete Pod"],
        ["host.fill_disk", "nothing comes near"],
        ["host.stress-io", "Nearest: Stress CPU"],
        ["host.timetravel", "nothing comes near"],
        ["host_windows.stop-process", "nothing comes near"],
        ["jvm.spring-mvc-delay-attack", "changes what a JVM runs"],
        ["kafka.topic.delay", "nothing comes near"],
        ["kafka.topic.delete-records", "nothing comes near"],
    ])("%s is refused by its name: %s", (type, nearest) => {
        const [refused] = refusedOf(experiment([step(type)]), withChecks);
        expect(refused).toContain(`lanes.0.steps.0.actionType: ${com}${type}: `);
        expect(refused).toContain(nearest);
    });

    it("of hosts without a port is of all ports, and says where it is proven", () => {
        const one = only(experiment([step("container.network_blackhole", { hostname: ["db.example"] })]), withChecks);
        expect(one.args.attacks).toMatchObject([{ peers: [{ host: "db.example" }] }]);
        expect(noted(one, `${parameters}.hostname`)).toContain("must answer at port 443 or 80");
    });

    it("that follows another is an experiment by itself, and each says so", () => {
        const stress = (cpuLoad: number) => step("container.stress_cpu", { cpuLoad });
        const lane = [stress(50), wait("10s"), stress(75), wait("10s"), stress(90)];
        const all = imported(experiment(lane), withChecks);
        expect(all.map(({ name, args }) => [name, args.attacks])).toEqual([
            ["one-1", [expect.objectContaining({ cpu: "50%" })]],
            ["one-2", [expect.objectContaining({ cpu: "75%" })]],
            ["one-3", [expect.objectContaining({ cpu: "90%" })]],
        ]);
        for (const [index, one] of all.entries())
            for (const other of [0, 1, 2].filter((each) => each !== index))
                expect(noted(one, `lanes.0.steps.${2 * other}`)).toContain("is an experiment by itself here");
    });

    it("that follows another keeps the checks of its own time", () => {
        const check = (path: string) => ({
            type: "action",
            actionType: `${com}http.check.periodically`,
            parameters: { duration: "60s", url: `http://front.shop.svc${path}` },
        });
        const blocked = step("container.network_blackhole");
        const all = imported(experiment([blocked, blocked], [check("/a"), check("/b")]), fromFile);
        expect(all.map(({ args }) => args.checks)).toEqual([
            [expect.objectContaining({ path: "/a" })],
            [expect.objectContaining({ path: "/b" })],
        ]);
        expect(noted(all[0]!, "lanes.1.steps.1")).toContain("a check of another experiment of this file");
    });

    it.each([undefined, "0s"])("of the duration %j is refused, and not as long as its checks", (duration) => {
        const check = step("http.check.periodically", { url: "http://front.shop.svc/a" });
        const lanes = [[step("container.network_blackhole", { duration })], [check]];
        expect(refusedOf(experiment(...lanes), fromFile)).toContainEqual(
            expect.stringContaining(`${parameters}.duration: is missing or 0`),
        );
    });

    it("of a duration with a placeholder lacks its value, and nothing else", () =>
        expect(refusedOf(experiment([step("container.network_blackhole", { duration: "[[d]]" })]), withChecks)).toEqual(
            [expect.stringContaining("--set d=…")],
        ));

    it("whose check has a limit without a response time is refused, and not without that limit", () => {
        const check = step("http.check.periodically", {
            ...{ url: "http://front.shop.svc/a", responseTimeMode: "SHORTER_THAN" },
        });
        expect(refusedOf(experiment([step("container.network_blackhole")], [check]), fromFile)).toEqual([
            "lanes.1.steps.0.parameters.responseTime: is missing",
        ]);
    });

    it("that overlaps another is refused, since it would not here", () => {
        const blocked = step("container.network_blackhole");
        expect(refusedOf(experiment([blocked], [wait("30s"), blocked]), withChecks).join("\n")).toContain(
            "lanes.1.steps.1: does not begin and end with the other attacks",
        );
    });
});

describe("a deleted pod", () => {
    const killed = step("kubernetes.delete_pod", { duration: undefined });

    it("without a check has a window of 30 s, all of which counts, and says so", () => {
        const one = only(experiment([killed]), withChecks);
        expect(one.args.window).toEqual({ duration: "30s", grace: "0s" });
        expect(noted(one, "lanes.0.steps.0")).toContain("the window has its default length, 30s");
    });

    it("has such a window, too, if it is not certain when its last check ends", () => {
        const url = "http://front.shop.svc/a";
        const waiting = step("kubernetes.pod_count_check", { podCountCheckMode: "podCountMin1" });
        const one = only(experiment([waiting, killed], [step("http.check.periodically", { url })]), withChecks);
        expect(one.args.window).toEqual({ duration: "30s", grace: "0s" });
    });
});

describe("targets", () => {
    const of = (radius: object) => experiment([step("container.network_blackhole", {}, { radius })]);
    const namespace = 'k8s.namespace="shop"';

    it.each([
        ['k8s.workload-owner="orders"', "k8s.deployment=orders"],
        ['k8s.workload-owner="orders" AND k8s.workload-type="statefulset"', "k8s.statefulset=orders"],
        ['k8s.workload-owner="orders" AND k8s.workload-type="DaemonSet"', "k8s.daemonset=orders"],
    ])("%s are %s, and it is said that a kind was chosen", (query, target) => {
        const one = only(of({ query: `${namespace} AND ${query}`, percentage: 100 }), withChecks);
        expect(one.args.attacks![0]!.target).toBe(`${target},k8s.namespace=shop`);
        expect(noted(one, radius)).toContain("by default a Deployment");
    });

    it.each<[value: string, radius: unknown]>([
        ["1#", 1],
        ["50%", "50%"],
    ])("limited to %s of the pods have the radius %j, and it is said what it counts", (value, amount) => {
        const advanced = [{ attribute: "k8s.pod.name", value }];
        const one = only(of({ query: deployment, advanced }), withChecks);
        expect(one.args.attacks![0]!.radius).toBe(amount);
        expect(noted(one, `${radius}.advanced`)).toContain("it counts pods");
    });

    it.each([`(k8s.cluster-name="[[cluster]]" AND ${deployment})`, ` ( ${deployment} ) `])(
        "may be in brackets, as in %s",
        (query) =>
            expect(attackOf(of({ query, percentage: 100 }))).toMatchObject({
                target: "k8s.deployment=orders,k8s.namespace=shop",
            }),
    );

    it.each([
        `${namespace} AND k8s.cluster-name="dev" OR k8s.deployment="orders"`,
        `(${deployment} OR k8s.deployment="carts")`,
        `(${namespace}) AND (k8s.deployment="orders")`,
    ])("that would be others without a part of the query, as with %s, are refused", (query) =>
        expect(refusedOf(of({ query, percentage: 100 }), withChecks).join("\n")).toContain(
            `${radius}.query: has no counterpart`,
        ),
    );

    it("limited by another attribute are refused", () => {
        const refused = (advanced: unknown) => refusedOf(of({ query: deployment, advanced }), withChecks).join();
        expect(refused([{ attribute: "k8s.node.name", value: "1#" }])).toContain(`${radius}.advanced: `);
        expect(refused("50%")).toContain(`${radius}.advanced: is not a list`);
    });
});

describe("a pod count", () => {
    const blocked = step("container.network_blackhole");
    const count = (podCountCheckMode: string, more: object = {}) =>
        step("kubernetes.pod_count_check", { podCountCheckMode, ...more });
    const all = (mode: string) => count(mode, { statusCheckMode: "allTheTime" });
    const statefulset = 'k8s.namespace="shop" AND k8s.statefulset="orders"';
    const ofDeployment = { apiVersion: "apps/v1", kind: "Deployment", name: "orders", namespace: "shop" };

    it.each<[mode: string, limits: object]>([
        ["podCountEqualsDesiredCount", { field: "status.unavailableReplicas", equals: 0 }],
        ["podCountMin1", { field: "status.readyReplicas", atLeast: 1 }],
        ["podCountEquals0", { field: "status.readyReplicas", equals: 0 }],
    ])("before the attack, %s, is what the run waits for, with %j", (mode, limits) => {
        const one = only(experiment([count(mode), blocked]), withChecks);
        expect(one.args.begin).toEqual({
            when: { kind: "condition", of: ofDeployment, ...limits, ifMissing: 0 },
            within: "1m",
        });
        expect(noted(one, "lanes.0.steps.0")).toContain("waits for before it begins");
    });

    it("whose failure is ignored is not waited for, and that is said; the next one is", () => {
        const ignored = { ...count("podCountEquals0"), ignoreFailure: true };
        const one = only(experiment([ignored, count("podCountMin1"), blocked]), withChecks);
        expect(one.args.begin).toMatchObject({ when: { atLeast: 1 } });
        expect(noted(one, "lanes.0.steps.0")).toContain("or the run ABORTED");
        expect(noted(one, "lanes.0.steps.0")).not.toContain("waits for before it begins");
    });

    it.each(["2h", "500ms"])("of %s, which no run waits, is refused where the file says how long", (duration) =>
        expect(refusedOf(experiment([count("podCountMin1", { duration }), blocked]), withChecks)).toEqual([
            `lanes.0.steps.0.parameters.duration: "${duration}" is not allowed; allowed: a duration from 1s to 1h, ` +
                "such as 30s or 1m",
        ]),
    );

    it("that must hold all the time is a check", () => {
        const one = only(experiment([blocked], [all("podCountMin1")]), fromFile);
        expect(one.args.checks).toEqual([
            { kind: "condition", of: ofDeployment, field: "status.readyReplicas", atLeast: 1, ifMissing: 0 },
        ]);
    });

    it("of a workload, not of the whole radius, is read: the radius is no difference", () =>
        expect(differences(only(experiment([blocked], [all("podCountMin1")]), fromFile))).not.toContain(
            "lanes.1.steps.0.radius",
        ));

    it("has its unread fields refused, as an HTTP check has", () =>
        expect(refusedOf(experiment([count("podCountMin1", { least: 3 }), blocked]), withChecks)).toEqual([
            "lanes.0.steps.0.parameters.least: has no counterpart",
        ]));

    it.each<[workload: string, additional: boolean]>([
        ["deployment", true],
        ["daemonset", false],
    ])("of a %s's desired number says what is counted in its place", (workload, additional) => {
        const radius = { query: `k8s.namespace="shop" AND k8s.${workload}="orders"` };
        const one = only(experiment([blocked], [{ ...all("podCountEqualsDesiredCount"), radius }]), fromFile);
        const said = noted(one, "lanes.1.steps.0.parameters.podCountCheckMode");
        expect(said).toContain("until it is available");
        expect(said.includes("additional pods of a rollout")).toBe(additional);
    });

    it("of none all the time says that there must be none before the attack", () => {
        const one = only(experiment([blocked], [all("podCountEquals0")]), fromFile);
        expect(noted(one, "lanes.1.steps.0.parameters.podCountCheckMode")).toContain("before the attack, too");
    });

    it.each<[what: string, lanes: object[][], path: string]>([
        ["of a change", [[count("podCountIncreased"), blocked]], "lanes.0.steps.0"],
        [
            "of less than the desired number, which a rollout's additional pods would be",
            [[count("podCountLessThanDesiredCount"), blocked]],
            "lanes.0.steps.0",
        ],
        [
            "of a StatefulSet's desired number",
            [[{ ...count("podCountEqualsDesiredCount"), radius: { query: statefulset } }, blocked]],
            "lanes.0.steps.0",
        ],
        [
            "of a namespace",
            [[{ ...count("podCountMin1"), radius: { query: 'k8s.namespace="shop"' } }, blocked]],
            "lanes.0.steps.0",
        ],
        [
            "of what no target is",
            [[{ ...count("podCountMin1"), radius: { query: 'aws.zone="a"' } }, blocked]],
            "lanes.0.steps.0",
        ],
    ])("before the attack %s is left out, and that is said", (_, lanes, path) => {
        const one = only(experiment(...lanes), withChecks);
        expect(one.args).not.toHaveProperty("begin");
        expect(noted(one, path)).toContain("ends before the attack, and is left out");
    });
});

describe("a check that is left out, of what the attack does, leaves the hypothesis without its answer:", () => {
    const blocked = step("container.network_blackhole");
    const get = (url: string, more: object = {}, duration = "60s") =>
        step("http.check.periodically", { url: `http://front.shop.svc${url}`, duration, ...more });
    const count = (podCountCheckMode: string, statusCheckMode = "atLeastOnce") =>
        step("kubernetes.pod_count_check", { podCountCheckMode, statusCheckMode });
    const restart = step("kubernetes.rollout-restart", { duration: undefined, wait: "false" });
    const listing = [get("/a")];

    it.each<[what: string, lanes: object[][], path: string, reason: string]>([
        [
            "a pod count during the attack",
            [[blocked], listing, [count("podCountIncreased")]],
            "lanes.2.steps.0",
            "waits until it is true once",
        ],
        [
            "a pod count after the attack",
            [[blocked, count("podCountEqualsDesiredCount")], listing],
            "lanes.0.steps.1",
            "waits until it is true once",
        ],
        [
            "a pod count all the time that no check counts",
            [[blocked], listing, [count("podCountLessThanDesiredCount", "allTheTime")]],
            "lanes.2.steps.0",
            "less than the desired number",
        ],
        [
            "a pod count all the time after the attack, besides one during it",
            [[blocked, count("podCountMin1", "allTheTime")], [count("podCountMin1", "allTheTime")]],
            "lanes.0.steps.1",
            "begins after the attack",
        ],
        [
            "all pods ready during the Deployment's rollout, whose additional pods are not",
            [[restart], listing, [count("podCountEqualsDesiredCount", "allTheTime")]],
            "lanes.2.steps.0",
            "while the Deployment is rolled out",
        ],
        [
            "the status of a rollout",
            [[restart], listing, [step("kubernetes.rollout-status")]],
            "lanes.2.steps.0",
            "has no counterpart",
        ],
        [
            "an HTTP check after the attack, of another address",
            [[blocked, get("/b")], listing],
            "lanes.0.steps.1",
            "wants what no check of its time does",
        ],
        [
            "an HTTP check after the attack, of a shorter response time",
            [[blocked, get("/a", { responseTimeMode: "SHORTER_THAN", responseTime: "50ms" })], listing],
            "lanes.0.steps.1",
            "wants what no check of its time does",
        ],
        [
            "an HTTP check during a part of the attack",
            [[blocked], listing, [wait("30s"), get("/a", {}, "30s")]],
            "lanes.2.steps.1",
            "does not surely last as long as the attack",
        ],
    ])("%s is refused, or left out under a hypothesis of the command", (_, lanes, path, reason) => {
        const [refused, ...more] = refusedOf(experiment(...lanes), withChecks);
        expect(refused).toMatch(new RegExp(`^${path}: .*${reason}.*With --hypothesis TEXT`));
        expect(more).toEqual([]);
        const one = only(experiment(...lanes), added);
        expect(noted(one, path)).toMatch(new RegExp(`${reason}.*It is left out: the hypothesis is the command's`));
        expect(one.args.checks.length).toBe(2);
    });

    it("not one whose failure is ignored: it answers nothing", () => {
        const ignored = { ...count("podCountIncreased"), ignoreFailure: true };
        const one = only(experiment([blocked], listing, [ignored]), fromFile);
        expect(noted(one, "lanes.2.steps.0")).toContain("its failure is ignored");
    });

    it.each([
        ["statusCode", "200-299"],
        ["statusCode", "200-399"],
        ["successRate", 100],
    ])("not one after the attack that a check of the window answers, with %s %s", (key, value) => {
        const lanes = [[blocked, get("/a", { method: "GET", [key]: value })], [get("/a", { successRate: 90 })]];
        const one = only(experiment(...lanes), fromFile);
        expect(noted(one, "lanes.0.steps.1")).toContain("the update waits until all checks of the window hold");
    });

    it("not one before it, of the steady state: what must hold then is said", () => {
        const one = only(experiment([get("/b"), blocked], [wait("60s"), ...listing]), fromFile);
        expect(noted(one, "lanes.0.steps.0")).toContain("before one, the checks of the window must hold");
    });
});

describe("an answer that is right only under attack", () => {
    const blocked = step("container.network_blackhole");
    const get = (statusCode: string, more: object = {}) =>
        step("http.check.periodically", { url: "http://front.shop.svc/a", statusCode, ...more });
    const [before, after] = [
        [
            [get("200-299"), blocked],
            [wait("60s"), get("404")],
        ],
        [[blocked, get("200")], [get("[[status]]")]],
    ];
    const set = { status: "404" };

    it.each<[when: string, lanes: object[][], path: string]>([
        ["before", before, "lanes.1.steps.1"],
        ["after", after, "lanes.1.steps.0"],
    ])("is refused if the file wants another one %s it: every run would be ABORTED", (_, lanes, path) => {
        const refused = refusedOf(experiment(...lanes), { ...withChecks, set }).join("\n");
        expect(refused).toMatch(new RegExp(`^${path}: wants a status that is right only under the attack`, "m"));
        expect(refused).toContain("a range with both, such as 200-503");
        expect(only(experiment(...lanes), { ...added, set }).args.checks).toEqual(added.checks);
    });

    it.each(["503", "500-599", "error", "[[status]]"])(
        "is refused if it is %s, also if the file does not say what is right before",
        (statusCode) => {
            const lanes = [[blocked], [get(statusCode)]];
            expect(refusedOf(experiment(...lanes), { ...withChecks, set: { status: "503" } })).toEqual([
                expect.stringMatching(
                    /^lanes\.1\.steps\.0: wants a status that is right only under the attack.*With --hypothesis/,
                ),
            ]);
            const one = only(experiment(...lanes), { ...added, set: { status: "503" } });
            expect(one.args.checks).toEqual(added.checks);
            expect(noted(one, "lanes.1.steps.0")).toContain("is left out");
        },
    );

    it("needs no value for a placeholder if it is left out", () => {
        const ignored = { ...get("[[status]]"), ignoreFailure: true };
        expect(only(experiment([blocked], [ignored]), withChecks).args.checks).toEqual(added.checks);
    });

    it("is said to be needed before the attack, too, if it may be right then", () => {
        const one = only(experiment([blocked], [get("404")]), fromFile);
        expect(one.args.checks).toMatchObject([{ status: 404 }]);
        expect(noted(one, "lanes.1.steps.0.parameters.statusCode")).toContain("or the run is ABORTED");
    });

    it("is no range with both answers", () =>
        expect(
            noted(only(experiment([blocked], [get("200-503")]), fromFile), "lanes.1.steps.0.parameters.statusCode"),
        ).toBe(""));
});

describe("an action", () => {
    const scaled = (replicaCount: unknown) => step("kubernetes.scale_deployment", { replicaCount });
    const restarted = (more: object) =>
        step("kubernetes.rollout-restart", { duration: undefined, wait: true, ...more });

    it("has its mistake named at the file's own field", () =>
        expect(refusedOf(experiment([scaled(2.5)]), withChecks)).toEqual([
            expect.stringMatching(/^lanes\.0\.steps\.0\.parameters\.replicaCount: is 2\.5/),
        ]));

    it("has a window until the last check ends, also if a Deployment is scaled back before", () => {
        const asked = step("http.check.periodically", { url: "https://shop.example.com/", duration: "130s" });
        const scale = step("kubernetes.scale_deployment", { replicaCount: 3, duration: "60s" });
        const one = only(experiment([wait("10s"), scale], [asked]), fromFile);
        expect(one.args.window).toMatchObject({ duration: "2m" });
        expect(noted(one, "lanes.0.steps.1.parameters.duration")).toContain("after a window of 2m");
    });

    it("that begins later than an action may wait is refused", () =>
        expect(refusedOf(experiment([scaled(2), wait("2h"), scaled(3)]), withChecks).join()).toContain(
            "lanes.0.steps.2: has no certain time, at most 1h",
        ));

    it.each([
        [true, "another rollout may be under way"],
        [false, ""],
    ])("that must fail during a rollout (checkBefore: %j) says what happens here", (checkBefore, difference) => {
        const one = only(experiment([restarted({ checkBefore })]), withChecks);
        expect(one.args.actions).toEqual([{ kind: "rollout", deployment: "orders" }]);
        expect(noted(one, `${parameters}.checkBefore`)).toContain(difference);
    });

    it("that restarts a Deployment leaves the count of its ready pods as it is there", () => {
        const ready = { podCountCheckMode: "podCountMin1", statusCheckMode: "allTheTime" };
        const count = step("kubernetes.pod_count_check", ready);
        const one = only(experiment([restarted({})], [count]), fromFile);
        expect(one.args.checks).toMatchObject([{ field: "status.readyReplicas", atLeast: 1 }]);
    });
});

it("a field of an attack's step is a label only if it is one", () => {
    const one = only(
        experiment([{ ...step("container.network_blackhole"), customLabel: "cut", disabled: true }]),
        withChecks,
    );
    expect(noted(one, "lanes.0.steps.0.customLabel")).toBe("is only a label");
    expect(noted(one, "lanes.0.steps.0.disabled")).toBe("has no counterpart");
});

describe("an HTTP check of more requests a second than a check sends", () => {
    const requests = (parameters: object) => ({
        ...step("http.check.periodically", { url: "http://front.shop.svc/a", ...parameters }),
        customLabel: "visitors",
    });
    const blocked = step("container.network_blackhole");
    const at = "lanes.1.steps.0.parameters";

    it("is a load, with its limit of time and its success rate; the same request is a check, too", () => {
        const many = {
            ...{ requestsPerSecond: 200, method: "POST", body: '{"a":1}', successRate: 95, readTimeout: "5s" },
            ...{ responseTimeMode: "SHORTER_THAN", responseTime: "800ms" },
        };
        const one = only(experiment([blocked], [requests(many)]), fromFile);
        const request = { service: "front", namespace: "shop", port: 80, path: "/a", method: "POST", body: { a: 1 } };
        const shared = { ...request, status: [200, 299], successRate: 0.95 };
        expect(one.args.actions).toEqual([
            { kind: "load", name: "visitors", perSecond: 200, timeoutMs: 800, ...shared },
        ]);
        expect(one.args.checks).toEqual([{ kind: "http", maxLatencyMs: 800, timeoutMs: 5_000, ...shared }]);
        expect(noted(one, `${at}.requestsPerSecond`)).toContain("a load here");
    });

    it("of which all must succeed, if the file does not say how many", () => {
        const one = only(experiment([blocked], [requests({ requestsPerSecond: 51 })]), fromFile);
        expect(one.args.actions).toMatchObject([{ kind: "load", perSecond: 51, successRate: 1 }]);
    });

    it("is a load of a fixed amount in its time, if that is a whole number a second", () => {
        const amount = (numberOfRequests: number) => ({
            ...requests({ numberOfRequests }),
            actionType: `${com}http.check.fixed_amount`,
        });
        const one = only(experiment([blocked], [amount(6_000)]), fromFile);
        expect(one.args.actions).toMatchObject([{ kind: "load", perSecond: 100 }]);
        expect(noted(one, `${at}.numberOfRequests`)).toContain("a load here");
        expect(refusedOf(experiment([blocked], [amount(6_030)]), fromFile).join()).toContain(
            `${at}.numberOfRequests: is 100.5 a second`,
        );
        expect(refusedOf(experiment([blocked], [amount(180_000)]), fromFile).join()).toMatch(
            new RegExp(`^${at}.numberOfRequests: `),
        );
    });

    it("of less than one a second is refused at the file's own field", () => {
        const few = { ...requests({ numberOfRequests: 20 }), actionType: `${com}http.check.fixed_amount` };
        expect(refusedOf(experiment([blocked], [few]), fromFile)).toEqual([
            `${at}.numberOfRequests: is 0.33 a second in this time; allowed: at least 60`,
        ]);
    });

    it.each([
        ["responseTime", { responseTimeMode: "SHORTER_THAN", responseTime: "50ms", readTimeout: "5s" }],
        ["readTimeout", { responseTimeMode: "SHORTER_THAN", responseTime: "800ms", readTimeout: "50ms" }],
        ["readTimeout", { readTimeout: "50ms" }],
    ])("is refused at the %s that is too short for a load", (key, fields) => {
        const refused = refusedOf(experiment([blocked], [requests({ requestsPerSecond: 200, ...fields })]), fromFile);
        expect(refused.length).toBeGreaterThan(0);
        for (const each of refused) expect(each.startsWith(`${at}.${key}: `), each).toBe(true);
    });

    it("is refused beyond what a load sends", () =>
        expect(refusedOf(experiment([blocked], [requests({ requestsPerSecond: 2_001 })]), fromFile)).toEqual([
            `${at}.requestsPerSecond: is not a number from 1 to 2000`,
        ]));
});

describe("an HTTP check", () => {
    const asked = (fields: object) =>
        experiment(
            [step("container.network_blackhole")],
            [step("http.check.periodically", { url: "http://front.shop.svc/a", ...fields })],
        );
    const until = (responseTimeMeasurement: string) =>
        asked({ responseTimeMeasurement, responseTimeMode: "SHORTER_THAN", responseTime: "800ms" });

    it("measures the time to the first byte", () =>
        expect(only(until("TIME_TO_FIRST_BYTE"), fromFile).args.checks).toMatchObject([{ maxLatencyMs: 800 }]));

    it("of the time to another byte is refused", () =>
        expect(refusedOf(until("TIME_TO_LAST_BYTE"), fromFile)).toEqual([
            expect.stringMatching(/^lanes\.1\.steps\.0\.parameters\.responseTimeMeasurement: /),
        ]));

    it("sends its method in capitals, as Steadybit does", () =>
        expect(only(asked({ method: "get" }), fromFile).args.checks).toMatchObject([{ method: "GET" }]));
});

describe("the address of a check", () => {
    const asked = (url: string) =>
        only(experiment([step("container.network_blackhole")], [step("http.check.periodically", { url })]), fromFile);
    const at = "lanes.1.steps.0.parameters.url";

    it.each(["http://checkout.canary/health", "https://checkout.canary:8443/"])(
        "%s may be a Service: it says so",
        (url) => {
            const one = asked(url);
            expect(one.args.checks).toMatchObject([{ url: new URL(url).origin }]);
            expect(noted(one, at)).toContain("write checkout.canary.svc");
        },
    );

    it.each([
        ...[
            "http://shop.example/",
            "https://shop.com/",
            "https://shop.io/",
            "http://10.0.0.7/",
            "http://[2001:db8::1]/",
        ],
        ...["http://www.shop.canary/", "http://checkout.canary.svc/"],
    ])("%s is no name that only a pod may know", (url) => expect(noted(asked(url), at)).toBe(""));
});

describe("a check of something that no check here asks", () => {
    const datadog = step("datadog.monitor.status_check");
    const text = experiment([step("container.network_blackhole")], [datadog]);

    it("is refused, since the hypothesis is of it, too", () =>
        expect(refusedOf(text, withChecks)).toEqual([
            expect.stringMatching(/^lanes\.1\.steps\.0: is a check that has no counterpart\. With --hypothesis TEXT/),
        ]));

    it("is left out if a person says what the other checks show, and that is said", () => {
        const one = only(text, added);
        expect(one.args.hypothesis).toBe(added.hypothesis);
        expect(noted(one, "lanes.1.steps.0")).toContain("is left out: the hypothesis is the command's");
    });

    it.each([
        ["kubernetes.pod_count_metric", {}],
        ["http.check.periodically", { url: "http://front.shop.svc/a" }],
        ["prometheus.instance.metrics", {}],
    ])("is one by %s whose numbers are checked", (type, fields) => {
        const numbers = step(type, fields, { metricChecks: [{ condition: "GTE" }] });
        const [refused] = refusedOf(experiment([step("container.network_blackhole")], [numbers]), withChecks);
        expect(refused).toMatch(/^lanes\.1\.steps\.0: is a check that has no counterpart/);
    });

    it.each(["kubernetes.pod_count_metric", "kubernetes.kubernetes_logs", "prometheus.instance.metrics"])(
        "is none by %s, which only shows something",
        (type) => {
            const one = only(experiment([step("container.network_blackhole")], [step(type)]), withChecks);
            expect(noted(one, "lanes.1.steps.0")).toContain("only shows something");
        },
    );

    it("may be of what is outside of Kubernetes", () => {
        const tasks = step("aws.ecs-service.task_count_check");
        const [refused] = refusedOf(experiment([step("container.network_blackhole")], [tasks]), withChecks);
        expect(refused).toMatch(/^lanes\.1\.steps\.0: is a check that has no counterpart/);
    });

    it("may end early, as a count of nodes does: what follows has no certain time", () => {
        const nodes = step("kubernetes.node_count_check", { nodeCount: 1, duration: "10s" });
        const get = step("http.check.periodically", { url: "http://front.shop.svc/a" });
        const one = only(experiment([wait("10s"), step("container.network_blackhole")], [nodes, get]), added);
        expect(one.args.checks).toEqual(added.checks);
        expect(noted(one, "lanes.1.steps.1")).toContain("does not surely last as long as the attack");
    });

    it("is not what keeps alarms quiet: these are raised, which is said", () => {
        const quiet = experiment([step("container.network_blackhole")], [step("datadog.monitor.downtime")]);
        expect(noted(only(quiet, withChecks), "lanes.1.steps.0")).toContain("here they are raised");
    });
});

describe("a template", () => {
    const template = JSON.stringify({
        templateTitle: "Load",
        placeholders: [{ key: "name", name: "Which one?" }],
        experimentName: "Load of [[name]]",
        hypothesis: "[[name]] holds.",
        lanes: [
            {
                steps: [
                    step(
                        "container.stress_cpu",
                        { cpuLoad: "[[load]]", duration: "[[long]]" },
                        { radius: { query: 'k8s.namespace="shop" AND k8s.deployment="[[name]]"', percentage: 100 } },
                    ),
                ],
            },
        ],
    });

    it("says all placeholders at once, as options, and that nothing else is in the way", () =>
        expect(refusedOf(template, withChecks)).toEqual([
            expect.stringMatching(/values by --set name=… --set long=… --set load=…; all else of it can be said$/),
        ]));

    it.each([
        ['k8s.cluster-name="[[cluster]]" AND k8s.namespace', "k8s.namespace"],
        ['"k8s.cluster-name" = "[[cluster]]" AND k8s.namespace', "k8s.namespace"],
    ])("needs no value for the cluster in %s, which the kubeconfig names", (after, before) => {
        const text = template.replaceAll(before, JSON.stringify(after).slice(1, -1));
        expect(refusedOf(text, withChecks).join()).not.toContain("cluster");
    });

    it("needs no value for a hypothesis that the command replaces", () => {
        const text = template.replace("[[name]] holds", "[[what]] holds");
        expect(refusedOf(text, withChecks).join()).toContain("--set what=…");
        expect(refusedOf(text, added).join()).not.toContain("--set what=…");
    });

    it("takes their values", () => {
        const set = { name: "orders", load: "75", long: "2m", other: "1" };
        expect(only(template, { ...withChecks, set })).toMatchObject({
            name: "load-of-orders",
            args: {
                hypothesis: "orders holds.",
                attacks: [{ cpu: "75%", target: "k8s.deployment=orders,k8s.namespace=shop" }],
                window: { duration: "2m" },
            },
        });
    });

    it("says what else is in the way beside them", () => {
        const refused = refusedOf(template.replace("stress_cpu", "stress_io"), withChecks).join("\n");
        expect(refused).toContain("Nearest: Stress CPU");
        expect(refused).toContain("--set name=…");
        expect(refused).not.toContain("all else");
    });

    it("has values judged as if they were in the file", () => {
        const set = { name: "orders", load: "much", long: "2m" };
        expect(refusedOf(template, { ...withChecks, set })).toEqual([
            "lanes.0.steps.0.parameters.cpuLoad: is not a number from 1 to 100",
        ]);
    });
});

it("an attack without a namespace has the one of the command", () =>
    expect(
        attackOf(experiment([step("container.network_block_dns")]).replace('k8s.namespace=\\"shop\\" AND ', ""), {
            namespace: "apps",
        }),
    ).toMatchObject({ kind: "dns", target: "k8s.deployment=orders,k8s.namespace=apps" }));
