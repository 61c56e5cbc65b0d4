import { beforeEach, describe, expect, it } from "vitest";
import { load } from "../../../../../../chaos/kinds/actions/load/load";
import type { LoadAction } from "../../../../../../chaos/kinds/actions/load/load-action";
import type { SenderSettings } from "../../../../../../chaos/kinds/actions/load/sender/settings";
import { besides, inTurn } from "../../../../../../chaos/kinds/actions/registry";
import { mistakesIn } from "../../../../../../chaos/definition/definition";
import { planOfArguments } from "../../../../../../chaos/definition/arguments";
import type { V1Pod } from "../../../../../../chaos/values/kubernetes-types";
import { FakeCluster } from "../../../support/fake-cluster";

const action: LoadAction = { kind: "load", service: "web", path: "/orders", method: "POST", perSecond: 200 };
const made = { image: "node:22", programs: { sender: "void 'the sender';" }, lastsSeconds: 900 };
const podOf = (more: Partial<LoadAction> = {}) =>
    ({ spec: load.beside!.podSpec({ ...action, ...more }, made) }) as V1Pod & { spec: any };
const settingsIn = (pod: V1Pod) =>
    JSON.parse(pod.spec!.containers[0]!.env!.find(({ name }) => name === "LOAD")!.value!) as SenderSettings;

describe("a definition", () => {
    const hypothesis = "It holds.";
    const mistakesOf = (more: object) => mistakesIn({ hypothesis, actions: [{ ...action, ...more }] });

    it.each<[string, object, string]>([
        ["a rate that one pod cannot send", { perSecond: 2_001 }, "perSecond: is 2001; allowed: at most 2000"],
        [
            "no place to send to",
            { service: undefined },
            "service: is missing; allowed: the name of a Service, or `url`",
        ],
        ["two places", { url: "http://web" }, "service: excludes `url`; allowed: one of them"],
        [
            "a secret in clear text",
            { headers: { authorization: "Bearer x" } },
            "headers.authorization: has a value of authorization; secrets must not be in a definition",
        ],
        [
            "a Secret of another namespace, which the pod cannot read",
            { headersFrom: { "x-key": { secret: "s", key: "k", namespace: "other" } } },
            "headersFrom.x-key.namespace: a load's pod is in the experiment's namespace",
        ],
        [
            "a limit in another form",
            { latency: { p99: "300ms" } },
            'latency.p99: "300ms" is not allowed; allowed: an obj',
        ],
        ...["headersFrom", "queryFrom", "bodyFrom"].map(
            (field) => [`null as ${field}`, { [field]: null }, `${field}: is null`] as [string, object, string],
        ),
        ["a limit of nothing", { latency: {} }, "latency: is empty; allowed: p50, p95 or p99"],
        [
            "a limit above the time limit",
            { latency: { p99: { atMost: "2s" } }, timeoutMs: 1_000 },
            "latency.p99.atMost: is longer than the time limit of a request; allowed: at most 1000ms",
        ],
        [
            "a length of its own, which is that of its body",
            { headers: { "Content-Length": "5" } },
            "headers.Content-Length: the load sends it by its body; leave it out",
        ],
        [
            "such a header from a Secret",
            { headersFrom: { "transfer-encoding": { secret: "s", key: "k" } } },
            "headersFrom.transfer-encoding: the load sends it by its body; leave it out",
        ],
        ["a status that ends no request", { status: 101 }, "status: no such answer is the last to a request; allowed"],
        ["only such ones", { status: [100, 199] }, "status: no such answer is the last to a request; allowed"],
        [
            "more than a variable of its pod may have",
            { body: { text: "x".repeat(100_000) } },
            "body: with it, the load has 100040 characters; allowed: 100000",
        ],
        [
            "so much with what is escaped there",
            { headers: { "x-price": "$".repeat(17_000) } },
            "headers: with it, the load has 102",
        ],
        ["a body that JSON does not know", { body: { a: 1n } }, "body: holds what JSON does not know"],
        ["more connections than it may have", { connections: 1_001 }, "connections: is 1001; allowed: at most 1000"],
    ])("must not have %s", (_, more, mistake) => expect(mistakesOf(more).join("\n")).toContain(`actions.0.${mistake}`));

    it("must name two loads of the same requests differently: reports tell them apart by that", () => {
        const two = (second: object) => mistakesIn({ hypothesis, actions: [action, { ...action, ...second }] });
        expect(two({})).toEqual([expect.stringContaining('another action is named "load on POST /orders of web"')]);
        expect(two({ name: "others" })).toEqual([]);
    });

    const args = {
        hypothesis,
        namespace: "demo",
        checks: [{ kind: "http", service: "web", path: "/" }] as const,
        actions: [action],
    };

    it("must have a window in which something can be counted", () => {
        const plan = () => planOfArguments("x", { ...args, checks: [...args.checks], window: { duration: "4s" } });
        expect(plan).toThrow(
            "window.duration: it is too short to count what a load has sent; allowed with one: at least 5s",
        );
    });

    it("has a deadline with room for its last answers", () => {
        const deadlineOf = (timeoutMs: number) =>
            planOfArguments("x", { ...args, checks: [...args.checks], actions: [{ ...action, timeoutMs }] }).deadlineMs;
        expect(deadlineOf(60_000) - deadlineOf(10_000)).toBe(50_000);
    });

    it("must not measure for so long under the load that the run would end before the attack", () => {
        const checks = [{ ...args.checks[0], latency: { p50: { atMost: "9x" } } }];
        const plan = () => planOfArguments("x", { ...args, checks, baseline: { duration: "3m" } });
        expect(plan).toThrow("baseline.duration: is 3m, and a load begins before it; allowed with one: at most 2m");
    });
});

it("is not done in its turn, and is told apart from others of its kind", () => {
    const wait = { kind: "wait", durationMs: 1 } as const;
    expect(inTurn([action, wait])).toEqual([wait]);
    expect(besides([action, wait, action]).map(({ part }) => part)).toEqual(["load", "load-2"]);
});

describe("its pod", () => {
    it("has no account, is admitted under `restricted`, and ends by itself", () => {
        const { spec } = podOf();
        expect(spec).toMatchObject({
            automountServiceAccountToken: false,
            restartPolicy: "Never",
            containers: [{ terminationMessagePolicy: "FallbackToLogsOnError" }],
            activeDeadlineSeconds: 900,
            securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
        });
        expect(spec.serviceAccountName).toBeUndefined();
        expect(spec.containers[0].securityContext).toMatchObject({
            allowPrivilegeEscalation: false,
            capabilities: { drop: ["ALL"] },
            readOnlyRootFilesystem: true,
        });
    });

    it("gets what is in Secrets from the kubelet: neither the plan nor the pod has it", () => {
        const secret = { secret: "keys", key: "token" };
        const pod = podOf({
            url: "https://web.example/base",
            service: undefined,
            headersFrom: { authorization: { ...secret, prefix: "Bearer " } },
            bodyFrom: { "login.password": secret },
            caFrom: { name: "trust" },
        });
        const env = pod.spec!.containers![0]!.env!;
        expect(env.slice(1)).toEqual([
            { name: "SECRET_1", valueFrom: { secretKeyRef: { name: "keys", key: "token" } } },
            { name: "SECRET_2", valueFrom: { secretKeyRef: { name: "keys", key: "token" } } },
            { name: "SECRET_3", valueFrom: { configMapKeyRef: { name: "trust", key: "ca.crt" } } },
        ]);
        expect(settingsIn(pod)).toMatchObject({
            origin: "https://web.example",
            path: "/base/orders",
            headersFrom: { authorization: { variable: "SECRET_1", prefix: "Bearer " } },
            bodyFrom: [{ keys: ["login", "password"], variable: "SECRET_2" }],
            caFrom: { variable: "SECRET_3" },
        });
    });

    it("has a text as it was written that looks like one of the kubelet's variables", () => {
        const pod = podOf({ body: { note: "$(SECRET_1)" } });
        expect(pod.spec!.containers![0]!.env![0]!.value).not.toContain("$");
        expect(settingsIn(pod).body).toEqual({ note: "$(SECRET_1)" });
    });

    it("may have connections for all that wait for a target that hangs, also if they are ended late", () => {
        const connections = (more: Partial<LoadAction>) => settingsIn(podOf(more)).connections;
        expect(connections({ perSecond: 1, timeoutMs: 1_000 })).toBe(10);
        expect(connections({ perSecond: 60, timeoutMs: 200 })).toBe(72);
        expect(connections({ perSecond: 100, timeoutMs: 2_000 })).toBe(300);
        expect(connections({ perSecond: 2_000 })).toBe(1_000);
        expect(connections({ connections: 7 })).toBe(7);
    });
});

describe("a Service", () => {
    let cluster: FakeCluster;
    const ports = [{ port: 8_080 }];
    beforeEach(() => {
        cluster = new FakeCluster();
        cluster.add("Namespace", "demo");
        cluster.add("Service", "web", { spec: { clusterIP: "10.96.0.9", ports } });
    });
    const equip = (more: Partial<LoadAction> = {}) =>
        load.beside!.equip({ ...action, ...more }, podOf(more), { cluster: cluster.api, namespace: "demo" });

    it("is asked at its address, so that no request waits for DNS, and by its name", async () => {
        expect(settingsIn(await equip())).toMatchObject({
            origin: "http://10.96.0.9:8080",
            headers: { host: "web.demo.svc:8080" },
        });
        const own = settingsIn(await equip({ headers: { Host: "shop.example" } })).headers;
        expect(own).toEqual({ host: "shop.example" });
    });

    const isProtected = { metadata: { labels: { "chaos-experiments/protected": "true" } } };
    it.each<[string, string, Partial<LoadAction>, () => unknown]>([
        ["that is missing", "there is none", { service: "gone" }, () => undefined],
        ["without that port", "has no TCP port 81", { port: 81 }, () => undefined],
        [
            "without an address",
            "it has no address in the cluster",
            {},
            () => cluster.add("Service", "web", { spec: { clusterIP: "None", ports } }),
        ],
        [
            "that is protected",
            "it is labeled as protected",
            {},
            () => cluster.add("Service", "web", { ...isProtected, spec: { clusterIP: "10.96.0.9", ports } }),
        ],
        [
            "in a protected namespace",
            "its namespace is labeled as protected",
            { namespace: "other" },
            () => {
                cluster.add("Namespace", "other", isProtected);
                cluster.add("Service", "web", { spec: { clusterIP: "10.96.0.8", ports } }, "other");
            },
        ],
    ])("%s is refused", async (_, words, more, change) => {
        change();
        await expect(equip(more)).rejects.toMatchObject({
            reason: { code: "action-refused", message: expect.stringContaining(words) },
        });
    });
});
