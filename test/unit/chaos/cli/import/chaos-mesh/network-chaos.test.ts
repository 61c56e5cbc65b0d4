import { expect, it } from "vitest";
import { added, chaos, differences, everyPod, noted, only, refusedOf } from "../support";

const withService = { ...added, service: "orders" };
const network = (spec: object) => chaos("NetworkChaos", { ...everyPod, ...spec });
const delay = { action: "delay", delay: { latency: "200ms" } };
const others = { mode: "all", selector: { labelSelectors: { app: "db" } } };

it("a delay of packets is a fault of requests through the Service, and says what is different", () => {
    const { args, differences } = only(network(delay), withService);
    expect(args.attacks).toEqual([
        { kind: "fault", service: "orders", delay: "200ms", target: "k8s.namespace=shop", radius: "all" },
    ]);
    const reason = differences.find(({ path }) => path === "spec.delay")!.reason;
    for (const part of ["each packet", "opening a connection", "calls of these pods to others", "Service orders"])
        expect(reason).toContain(part);
});

it("a delay of packets without a Service says which option is missing", () =>
    expect(refusedOf(network(delay), added)).toEqual([
        expect.stringContaining("spec.delay: delays packets. With --se"),
    ]));

it.each<[fields: object, delay: string, path: string, difference: string]>([
    [{ target: others, direction: "to" }, "200ms", "spec.target", "must be that of the one that is called"],
    [{ target: others, direction: "from" }, "200ms", "spec.target", "all calls through the Service are delayed"],
    [{ target: others, direction: "both" }, "400ms", "spec.direction", "a round trip takes twice the latency"],
])("a delay between two kinds of pods with %j is of all that calls the Service: %s", (fields, delayed, path, words) => {
    const experiment = only(network({ ...delay, ...fields }), withService);
    expect(experiment.args.attacks).toEqual([{ kind: "fault", service: "orders", delay: delayed, radius: "all" }]);
    expect(experiment.args.namespace).toBe("shop");
    expect(noted(experiment, path)).toContain(words);
});

it("a delay between one pod and others is of this pod's Service", () => {
    const experiment = only(network({ ...delay, mode: "one", target: others }), withService);
    expect(experiment.args.attacks).toMatchObject([{ target: "k8s.namespace=shop", radius: 1 }]);
    expect(noted(experiment, "spec.target")).toContain("which must be theirs");
});

it.each<[fields: object, path: string, difference: string]>([
    [{ delay: { latency: "1s", jitter: "100ms", correlation: "50" } }, "spec.delay.jitter", "here all are the same"],
    [{ direction: "both" }, "spec.direction", "is to without a target"],
    [{ device: "eth0" }, "spec.device", "is not of one device"],
    [{ remoteCluster: "east" }, "spec.remoteCluster", "the kubeconfig"],
])("a delay with %j says at %s: %s", (fields, path, difference) =>
    expect(noted(only(network({ ...delay, ...fields }), withService), path)).toContain(difference),
);

it.each(["0ms", "0", "0s"])("no jitter, %s, is no difference", (jitter) =>
    expect(
        differences(only(network({ ...delay, delay: { latency: "1s", jitter, correlation: "9" } }), withService)),
    ).not.toContain("spec.delay.jitter"),
);

it.each<[direction: string | undefined]>([["to"], ["from"], [undefined]])(
    "a partition of the direction %s is of both for TCP, and says what UDP does",
    (direction) => {
        const partition = { action: "partition", direction, target: others };
        const experiment = only(network(partition));
        expect(experiment.args.attacks).toEqual(only(network({ ...partition, direction: "both" })).args.attacks);
        expect(noted(experiment, "spec.direction")).toContain("UDP goes on in the other there");
    },
);

it("a partition of both directions is not said to be of one", () =>
    expect(differences(only(network({ action: "partition", direction: "both" })))).not.toContain("spec.direction"));

it("the loss of all packets is a partition, that of some is refused with what comes nearest", () => {
    const loss = (share: string) => network({ action: "loss", loss: { loss: share, correlation: "0" } });
    expect(only(loss("100")).args.attacks).toMatchObject([{ kind: "blackhole" }]);
    for (const share of ["30", "30%"])
        expect(refusedOf(loss(share), withService)).toEqual([expect.stringMatching(/^spec\.loss: .*Nearest: a fault/)]);
});

it.each<[target: string, peer: object]>([
    ["api.example.com", { host: "api.example.com" }],
    ["203.0.113.7", { host: "203.0.113.7" }],
    ["203.0.113.7/32", { host: "203.0.113.7" }],
    ["2001:db8::1", { host: "2001:db8::1" }],
])("the external target %s without a port is blocked at all ports, and says where it is proven", (target, peer) => {
    const experiment = only(network({ action: "partition", externalTargets: [target] }));
    expect(experiment.args.attacks).toMatchObject([{ peers: [peer] }]);
    expect(noted(experiment, "spec.externalTargets")).toContain("must answer at port 443 or 80");
});

it.each(["orders", "orders.shop.svc", "orders.shop.svc.cluster.local"])(
    "the external target %s is said to be refused by the run if it is a Service with pods",
    (target) => {
        const experiment = only(network({ action: "partition", externalTargets: [`${target}:80`] }));
        expect(noted(experiment, "spec.externalTargets")).toContain("with the name of a Service");
    },
);

it.each<[rate: string, bytesPerSecond: number]>([
    ["1mbps", 1_000_000],
    ["100 kbps", 100_000],
    ["800kbit", 100_000],
    ["1Mbit", 125_000],
    ["64bps", 64],
])("a bandwidth of %s is a fault with answers of %d bytes per second, and says what is different", (rate, bytes) => {
    const spec = { action: "bandwidth", bandwidth: { rate, limit: 20_971_520, buffer: 10_000 } };
    const experiment = only(network(spec), withService);
    const target = "k8s.namespace=shop";
    expect(experiment.args.attacks).toEqual([
        { kind: "fault", service: "orders", bytesPerSecond: bytes, target, radius: "all" },
    ]);
    expect(noted(experiment, "spec.bandwidth.rate")).toContain("each answer");
    expect(noted(experiment, "spec.bandwidth.buffer")).toContain("shapes bursts");
});

it.each<[direction: string, stream: string | undefined, path: string, difference: string]>([
    ["to", undefined, "spec.target", "which must be that of the selector's pods"],
    ["from", "upstream", "spec.target", "which must be that of the selector's pods"],
    ["both", undefined, "spec.direction", "here only what the selector's pods send is limited"],
])("a bandwidth %s other pods is of the stream %s, and says at %s: %s", (direction, stream, path, difference) => {
    const spec = { action: "bandwidth", bandwidth: { rate: "1mbps" }, direction, target: others };
    const experiment = only(network(spec), withService);
    const { stream: found } = experiment.args.attacks![0] as { stream?: string };
    expect(found).toBe(stream);
    expect(noted(experiment, path)).toContain(difference);
});

it.each<[fields: object, path: string, reason: string]>([
    [{ action: "duplicate", duplicate: { duplicate: "1" } }, "spec.action", "Nearest: a fault"],
    [{ action: "bandwidth", bandwidth: { rate: "fast" } }, "spec.bandwidth.rate", "is not a rate such as 1mbps"],
    [{ action: "bandwidth", bandwidth: { limit: 1 } }, "spec.bandwidth.rate", "is missing"],
    [{ ...delay, externalTargets: ["example.com"] }, "spec.externalTargets", "Nearest: action: partition"],
    [{ ...delay, target: { ...others, mode: "one" } }, "spec.target.mode", "is of some pods"],
    [
        { ...delay, target: { mode: "all", selector: { namespaces: ["data"] } } },
        "spec.target",
        "is in another namespace",
    ],
    [{ ...delay, delay: { latency: "1s", reorder: { reorder: "5", gap: 1 } } }, "spec.delay.reorder", "no counterpart"],
    [{ action: "delay", delay: { jitter: "1s" } }, "spec.delay.latency", "is missing"],
    [{ action: "netem", corrupt: { corrupt: "1" } }, "spec.delay", "is missing"],
])("%j is refused at %s: %s", (fields, path, reason) =>
    expect(refusedOf(network(fields), withService).join("\n")).toMatch(new RegExp(`^${path}: .*${reason}`, "m")),
);
