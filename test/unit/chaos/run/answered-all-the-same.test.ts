import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { attacksOf } from "../../../../chaos/definition/plan";
import { whyAnsweredAllTheSame } from "../../../../chaos/run/answered-all-the-same";
import type { Attack } from "../../../../chaos/kinds/attacks/registry";
import type { Check } from "../../../../chaos/kinds/checks/registry";
import { refuse } from "../support/fake-cluster";
import { FakeRun } from "../support/fake-run";
import { settled, startClock, stopClock } from "../support/time";

let run: FakeRun;
const http: Check = { kind: "http", service: "hot-deals", path: "/" };
const both = ["hot-deals-1", "hot-deals-2"];

beforeEach(() => {
    run = new FakeRun();
    for (const pod of both) run.cluster.get("Pod", pod).metadata.labels = { app: "hot-deals" };
    run.cluster.add("Service", "hot-deals", { spec: { selector: { app: "hot-deals" }, ports: [{ port: 80 }] } });
});
afterEach(() => run.close());

const good = { at: 1, latencyMs: 1, good: true };
const bad = { at: 2, latencyMs: 1, good: false, problem: "status 503" };

const blackhole: Attack = { kind: "blackhole" };

/** With all pods of the Service cut off, unless told otherwise. */
async function why({
    check = http,
    attack = blackhole,
    pods = both,
    answers = [good] as (typeof good | typeof bad)[],
} = {}) {
    run.plan.checks[0]!.check = check;
    run.plan.attacks[0]!.attack = attack;
    const chosen = [{ name: "blackhole", matching: 2, targets: pods.map((pod) => run.target(pod)) }];
    return whyAnsweredAllTheSame(run.plan, run.cluster.api, attacksOf(run.plan, "run", chosen), [{ answers }]);
}

const isBypassed = async (options: Parameters<typeof why>[0] = {}) =>
    expect(await why(options)).toMatchObject({ code: "attack-bypassed" });

it("a Service that answers while its pods are all cut off was asked on a way that no policy applies to", async () => {
    const { code, message } = (await why())!;
    expect(code).toBe("attack-bypassed");
    expect(message).toMatch(
        /^every ready endpoint of the Service hot-deals was cut off from other pods, and all .* succeeded/,
    );
});

it("so was one of which only some are: callers in the cluster lose their share", async () => {
    const { code, message } = (await why({ pods: ["hot-deals-1"] }))!;
    expect(code).toBe("attack-bypassed");
    expect(message).toMatch(/^1 of 2 ready endpoints of the Service hot-deals was cut off from other pods, and all /);
    // Fewer pods would not be met either.
    expect(message).not.toContain("fewer");
});

describe("so was one that answered far more than it can, although a request failed for another reason", () => {
    const answersOf = (goods: number, bads: number) => [...Array(goods).fill(good), ...Array(bads).fill(bad)];

    it.each([
        [999, 1, 1, "999 of 1000 requests"],
        [110, 13, 1, "110 of 123 requests"],
        [900, 100, 2, "900 of 1000 requests"],
    ])("%i good and %i bad, with %i of 2 pods cut off", async (goods, bads, cutOff, succeeded) => {
        const found = (await why({ pods: both.slice(0, cutOff), answers: answersOf(goods, bads) }))!;
        expect(found.code).toBe("attack-bypassed");
        expect(found.message).toContain(` cut off from other pods, and ${succeeded} of the check `);
    });

    it.each([
        [9, 1, 1],
        [700, 100, 1],
        [700, 300, 2],
    ])("but not if that is a share of the attack: %i good and %i bad, %i of 2 pods", async (goods, bads, cutOff) =>
        expect(await why({ pods: both.slice(0, cutOff), answers: answersOf(goods, bads) })).toBeUndefined(),
    );
});

it("so was one that one check asked, though another check had a bad answer", async () => {
    const other = { ...run.plan.checks[0]!, name: "other", check: { ...http, service: "other" } };
    run.plan.checks = [other, ...run.plan.checks];
    run.plan.checks[1]!.check = http;
    const targets = both.map((pod) => run.target(pod));
    const attacks = attacksOf(run.plan, "run", [{ name: "blackhole", matching: 2, targets }]);
    const observed = [{ answers: [good, bad] }, { answers: [good] }];
    const found = await whyAnsweredAllTheSame(run.plan, run.cluster.api, attacks, observed);
    expect(found).toMatchObject({ code: "attack-bypassed" });
});

it("so was one without a selector, whose EndpointSlices are made by hand", async () => {
    run.cluster.add("Service", "hot-deals", { spec: { ports: [{ port: 80 }] } });
    const sliceOf = (address: string) => ({
        metadata: { labels: { "kubernetes.io/service-name": "hot-deals" } },
        endpoints: [{ addresses: [address] }],
        ports: [{ port: 80 }],
    });
    run.cluster.add("EndpointSlice", "one", sliceOf("10.0.0.1"));
    await isBypassed();
    run.cluster.add("EndpointSlice", "one", sliceOf("203.0.113.7"));
    expect(await why()).toBeUndefined();
});

describe("so was one that was asked by a URL with an address of", () => {
    beforeEach(() => {
        const spec = {
            selector: { app: "hot-deals" },
            ports: [{ port: 80, targetPort: 8080, nodePort: 30080 }],
            clusterIP: "10.96.0.7",
            clusterIPs: ["10.96.0.7", "fd00:96::7"],
            externalIPs: ["198.51.100.7", "2001:DB8::7"],
        };
        const loadBalancer = { ingress: [{ ip: "203.0.113.1" }, { ip: "203.0.113.2" }, { hostname: "lb.example" }] };
        run.cluster.add("Service", "hot-deals", { spec, status: { loadBalancer } });
        const addresses = [{ type: "InternalIP", address: "2001:db8::1" }];
        run.cluster.add("Node", "one", { status: { addresses } });
    });
    const ofUrl = (url: string) => ({ check: { kind: "http", url, path: "/" } as const, pods: ["hot-deals-1"] });

    it.each([
        ["its load balancer", "http://203.0.113.2"],
        ["its load balancer, by name", "http://lb.example:80/"],
        ["a node, and its NodePort", "https://[2001:db8::1]:30080/shop"],
        ["the Service in the cluster", "http://10.96.0.7/shop"],
        ["the Service in the cluster, of the second family", "http://[fd00:96::7]"],
        ["the Service, from outside", "http://198.51.100.7"],
        ["the Service, from outside, as somebody wrote it", "http://[2001:db8::7]"],
        ["the Service, by its name in the cluster", "http://hot-deals.demo.svc.cluster.local"],
        ["the Service, by its name in the cluster with a dot", "http://hot-deals.demo.svc.cluster.local.:80"],
        ["the Service, by a shorter name", "http://hot-deals.demo.svc"],
        ["the Service, by its name and its namespace", "http://hot-deals.demo"],
        ["the Service, by its name in its namespace", "http://hot-deals"],
        ["the pod that is cut off", "http://10.0.0.1:8080"],
    ])("%s", (_, url) => isBypassed(ofUrl(url)));

    it.each([
        "http://203.0.113.2:81",
        "http://203.0.113.3",
        "http://[2001:db8::1]",
        "http://203.0.113.9:30080",
        "http://10.96.0.7:8080",
        "http://198.51.100.7:81",
        "http://hot-deals.demo.svc:81",
        "http://hot-deals.elsewhere.svc",
        "http://other.demo.svc",
        "http://10.0.0.2:8080",
    ])("and not of something else: %s", async (url) => expect(await why(ofUrl(url))).toBeUndefined());

    it("a pod that is cut off at other ports was not asked past the attack", async () => {
        const check: Check = { kind: "http", url: "http://10.0.0.1:8080", path: "/" };
        expect(await why({ check, attack: { kind: "blackhole", ports: [9] } })).toBeUndefined();
        const { message } = (await why({ check, attack: { kind: "blackhole", ports: [8080] } }))!;
        expect(message).toMatch(/^the pod hot-deals-1 was cut off from other pods, and all .* it still succeeded/);
    });

    it("a headless Service is asked by its name, and at the port of its pods", async () => {
        const spec = { selector: { app: "hot-deals" }, ports: [{ port: 80, targetPort: 8080 }], clusterIP: "None" };
        run.cluster.add("Service", "hot-deals", { spec });
        await isBypassed(ofUrl("http://hot-deals.demo.svc:8080"));
    });
});

it("so was one whose selector says which pods these are, to an account that may not list EndpointSlices", async () => {
    run.cluster.refuses("list EndpointSlice", 403, "endpointslices is forbidden");
    await isBypassed();
});

it("so was one whose pods are cut off at its port alone", () =>
    isBypassed({ attack: { kind: "blackhole", ports: [80, 9] } }));

describe("a Service with several ports, of whose pods one is cut off", () => {
    const attack: Attack = { kind: "blackhole", ports: [8080] };
    beforeEach(() => {
        run.plan.service = { namespace: "demo", name: "hot-deals", port: 80 };
        run.cluster.get("Service", "hot-deals").spec.ports = [
            { name: "http", port: 80, targetPort: 8080 },
            { name: "metrics", port: 9090 },
            { name: "dns", port: 53, protocol: "UDP" },
        ];
    });

    it.each<[string, Check]>([
        ["that port", { ...http, port: 80 }],
        ["that port by its name", { ...http, port: "http" }],
        ["the plan's Service", { kind: "http", path: "/" }],
    ])("was asked past the attack if the check asks %s", (_, check) => isBypassed({ check, attack }));

    it.each([9090, "metrics"])("was not if it asks another: %s", async (port) =>
        expect(await why({ check: { ...http, port }, attack })).toBeUndefined(),
    );

    it("was if the other one is of UDP, and the check names none", async () => {
        run.cluster.get("Service", "hot-deals").spec.ports.splice(1, 1);
        await isBypassed({ attack });
    });
});

it("a Service that asks pods that are not ready, too, was asked past the attack on these", async () => {
    run.cluster.get("Service", "hot-deals").spec.publishNotReadyAddresses = true;
    run.setReady("hot-deals-1", false);
    await isBypassed({ pods: ["hot-deals-1"] });
});

describe("a cluster that does not say which pods are behind the Service", () => {
    beforeEach(() => stopClock());
    afterEach(startClock);
    let calls: number;
    const refusing = (wanted: string, code: number, times: number) => {
        calls = 0;
        run.cluster.intercept = (call) => {
            if (call === wanted && ++calls <= times) refuse(code, "no answer");
        };
    };

    const byAddress: Check = { kind: "http", url: "http://10.96.0.7", path: "/" };
    beforeEach(() => void (run.cluster.get("Service", "hot-deals").spec.clusterIP = "10.96.0.7"));

    it.each([
        ["get Service", http],
        ["list Pod", http],
        ["list Service", byAddress],
    ])("is asked again: %s", async (call, check) => {
        refusing(call, 503, 2);
        expect(await settled(why({ check }))).toMatchObject({ code: "attack-bypassed" });
    });

    const ofService = /^it is not known which endpoints the Service hot-deals has: .*\d{3}/;
    it.each([
        [401, "get Service", http, ofService],
        [429, "get Service", http, ofService],
        [500, "get Service", http, ofService],
        [503, "get Service", http, ofService],
        [503, "list Service", byAddress, /^it is not known to which Service http:\/\/10\.96\.0\.7 leads: .*503/],
    ])("leaves no verdict if it never does: %i to %s", async (status, call, check, told) => {
        refusing(call, status, Infinity);
        const begun = Date.now();
        const { code, message } = (await settled(why({ check })))!;
        expect(code).toBe("api-server-unavailable");
        expect(message).toMatch(told);
        expect(Date.now() - begun).toBeLessThan(10_000);
        expect(calls).toBeGreaterThan(2);
    });

    it.each([
        [403, "get Service", http],
        [404, "get Service", http],
        [403, "list Service", byAddress],
    ])("is not asked again if it refuses: %i to %s", async (status, call, check) => {
        refusing(call, status, Infinity);
        expect([await settled(why({ check })), calls]).toEqual([undefined, 1]);
    });
});

describe("answers count", () => {
    it.each<[string, Parameters<typeof why>[0], prepare?: () => void]>([
        ["one was bad: the attack reached the check", { answers: [good, bad] }],
        ["others may connect to the targets", { attack: { kind: "blackhole", direction: "egress" } }],
        ["others may at the Service's port", { attack: { kind: "blackhole", ports: [9] } }],
        ["others than the peers may", { attack: { kind: "blackhole", peers: "k8s.deployment=other" } }],
        ["the attack is on DNS", { attack: { kind: "dns" } }],
        ["the attack kills", { attack: { kind: "kill" } }],
        ["the check asks another host", { check: { kind: "http", url: "https://shop.example", path: "/" } }],
        ["it asks another namespace", { check: { ...http, namespace: "elsewhere" } }],
        ["it asks no Service", { check: { kind: "podsReady", of: "k8s.deployment=hot-deals" } }],
        ["no pod is ready: the Service asks none", {}, () => both.forEach((pod) => run.setReady(pod, false))],
        ["those cut off are not ready", { pods: ["hot-deals-1"] }, () => run.setReady("hot-deals-1", false)],
        [
            "the account may not look",
            {},
            () => void (run.cluster.intercept = (call) => /^list (EndpointSlice|Pod)$/.test(call) && refuse(403, "no")),
        ],
    ])("if %s", async (_, options, prepare) => {
        prepare?.();
        expect(await why(options)).toBeUndefined();
    });
});
