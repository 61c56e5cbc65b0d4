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

it.each<[fields: object, radius: number | string, delay: string]>([
    [{ direction: "to" }, "all", "200ms"],
    [{ direction: "from" }, "all", "200ms"],
    [{ direction: "both" }, "all", "400ms"],
    [{ mode: "one" }, 1, "200ms"],
    [{ target: { mode: "all", selector: { namespaces: ["data"] } } }, "all", "200ms"],
])("a delay between two kinds of pods with %j hits those of the selector, and no others", (fields, radius, delayed) => {
    const selector = { labelSelectors: { app: "web" } };
    const experiment = only(network({ ...delay, selector, target: others, ...fields }), withService);
    const target = "k8s.label.app=web,k8s.namespace=shop";
    expect(experiment.args.attacks).toEqual([{ kind: "fault", service: "orders", delay: delayed, target, radius }]);
    for (const words of ["Service orders, which must be theirs", "swap selector and target"])
        expect(noted(experiment, "spec.target")).toContain(words);
});

it("a delay both ways says that a round trip takes it twice", () => {
    const experiment = only(network({ ...delay, target: others, direction: "both" }), withService);
    expect(noted(experiment, "spec.direction")).toContain("a round trip takes twice the latency");
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

it.each<[targets: string[], direction: string, path: string, said: boolean]>([
    [["203.0.113.0/24"], "to", "spec.externalTargets", true],
    [["api.example.com"], "to", "spec.externalTargets", true],
    [["203.0.113.7:443"], "to", "spec.externalTargets", false],
    [["203.0.113.7:443"], "both", "spec.direction", true],
    [["203.0.113.0/24"], "both", "spec.direction", true],
])("a partition from %j, %s, says at %s what comes from there: %s", (targets, direction, path, said) => {
    const spec = { action: "partition", direction, externalTargets: [...targets, "203.0.113.9:443"] };
    const words = "what comes from ";
    const experiment = only(network(spec));
    expect(noted(experiment, path).includes(words)).toBe(said);
    expect(noted(experiment, "spec.direction")).not.toContain("TCP works in neither");
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
    ["to", undefined, "spec.target", "Service orders, which must be theirs"],
    ["from", "upstream", "spec.target", "Service orders, which must be theirs"],
    ["both", undefined, "spec.direction", "here only what the selector's pods send is limited"],
])("a bandwidth %s other pods is of the stream %s, and says at %s: %s", (direction, stream, path, difference) => {
    const spec = { action: "bandwidth", bandwidth: { rate: "1mbps" }, direction, target: others };
    const experiment = only(network(spec), withService);
    const { stream: found } = experiment.args.attacks![0] as { stream?: string };
    expect(found).toBe(stream);
    expect(noted(experiment, path)).toContain(difference);
});

it("packets that are only changed are refused where they stand, and nowhere else", () =>
    expect(refusedOf(network({ action: "netem", corrupt: { corrupt: "1" } }), withService)).toHaveLength(1));

it.each<[fields: object, path: string, reason: string]>([
    [
        { action: "partition", direction: "from", externalTargets: ["203.0.113.9:22"] },
        "spec.direction",
        "from: .*Nearest: direction: to",
    ],
    [{ action: "duplicate", duplicate: { duplicate: "1" } }, "spec.action", "Nearest: a fault"],
    [{ action: "bandwidth", bandwidth: { rate: "fast" } }, "spec.bandwidth.rate", "is not a rate such as 1mbps"],
    [{ action: "bandwidth", bandwidth: { limit: 1 } }, "spec.bandwidth.rate", "is missing"],
    [{ action: "bandwidth", bandwidth: { rate: "9999gbps" } }, "spec.bandwidth", "9999000000000 is not allowed"],
    [{ ...delay, externalTargets: ["example.com"] }, "spec.externalTargets", "Nearest: action: partition"],
    [{ ...delay, target: { ...others, mode: "one" } }, "spec.target.mode", "is of some pods"],
    [
        { ...delay, delay: { latency: "1s", reorder: { reorder: "5", gap: 1 } } },
        "spec.delay.reorder",
        "Nearest: the del",
    ],
    [{ action: "delay", delay: { jitter: "1s" } }, "spec.delay.latency", "is missing"],
    [{ action: "netem" }, "spec.delay", "is missing"],
    [{ action: "netem", corrupt: { corrupt: "1" } }, "spec.corrupt", "changes bits of packets; .*Nearest: a fault"],
    [{ ...delay, duplicate: { duplicate: "1" } }, "spec.duplicate", "sends packets twice; .*Nearest: a fault"],
    [
        { action: "bandwidth", bandwidth: { rate: "1mbps" }, externalTargets: ["example.com"] },
        "spec.externalTargets",
        "Nearest: action: partition",
    ],
])("%j is refused at %s: %s", (fields, path, reason) =>
    expect(refusedOf(network(fields), withService).join("\n")).toMatch(new RegExp(`^${path}: .*${reason}`, "m")),
);

it.each<[latency: string, reason: string]>([
    ["0ms", "is less than 1ms"],
    ["0.4ms", "is less than 1ms"],
])("a delay of %s, with a jitter too, is refused: %s", (latency, reason) =>
    expect(refusedOf(network({ ...delay, delay: { latency, jitter: "5ms" } }), withService)).toEqual([
        expect.stringContaining(`spec.delay: ${reason}`),
    ]),
);

it("a delay of 1.5ms is of whole milliseconds here, and says so", () => {
    const experiment = only(network({ ...delay, delay: { latency: "1.5ms" } }), withService);
    expect(experiment.args.attacks).toMatchObject([{ delay: "2ms" }]);
    expect(noted(experiment, "spec.delay.latency")).toContain("is 2ms here");
});

it("a loss of 0 beside a delay loses nothing", () =>
    expect(only(network({ ...delay, loss: { loss: "0" } }), withService).args.attacks).toMatchObject([
        { kind: "fault", delay: "200ms" },
    ]));
