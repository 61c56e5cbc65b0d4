import type {
    V1ObjectMeta,
    V1PodSpec,
    V1ServicePort,
    V1ServiceSpec,
} from "../../../../../../chaos/values/kubernetes-types";
import { describe, expect, it } from "vitest";
import { containerPorts } from "../../../../../../chaos/kinds/attacks/fault/listeners";
import { findService } from "../../../../../../chaos/kinds/attacks/fault/find";
import { whyRefused } from "../../../../../../chaos/kinds/attacks/fault/unserved";
import type { Abort } from "../../../../../../chaos/kinds/attacks/fault/proxy/protocol";
import { reportedOf } from "../../../../../../chaos/kinds/attacks/fault/proof";
import { FakeCluster, type FakeRequest, refuse } from "../../../support/fake-cluster";

const spec: V1ServiceSpec = {
    type: "ClusterIP",
    clusterIP: "10.96.0.7",
    selector: { app: "hot-deals" },
    ports: [{ port: 80, protocol: "TCP" }],
    sessionAffinity: "None",
};
const reasonFor = (changes: Partial<V1ServiceSpec>, abort?: Abort, match?: { path: string }) =>
    whyRefused({ metadata: { name: "it" }, spec: { ...spec, ...changes } }, { abort, match });

it("a proxy takes the place of an ordinary Service, and of one of a load balancer", () => {
    expect(reasonFor({})).toBeUndefined();
    expect(reasonFor({ type: "LoadBalancer", externalTrafficPolicy: "Cluster" })).toBeUndefined();
    expect(reasonFor({}, 503)).toBeUndefined();
});

describe("a fault is refused for a Service", () => {
    it.each<[string, Partial<V1ServiceSpec>, string]>([
        ["without pods of its own", { type: "ExternalName" }, "type ExternalName"],
        ["that is headless", { clusterIP: "None" }, "it is headless"],
        ["without a selector", { selector: undefined }, "it has no selector"],
        ["with session affinity", { sessionAffinity: "ClientIP" }, "sessionAffinity ClientIP"],
        ["that nodes reach locally", { internalTrafficPolicy: "Local" }, "traffic policy Local"],
        ["whose load balancer is local", { externalTrafficPolicy: "Local" }, "traffic policy Local"],
        ["with a UDP port", { ports: [{ port: 53, protocol: "UDP" }] }, "its port 53 is UDP; allowed: TCP"],
        ["that has a proxy", { selector: { "chaos-experiments/proxy": "x" } }, "another fault has taken its place"],
    ])("%s", (_, changes, reason) => {
        expect(reasonFor(changes)).toContain(reason);
    });

    it.each([
        [{ name: "main", port: 80, appProtocol: "kubernetes.io/wss" }, "says kubernetes.io/wss"],
        [{ name: "https", port: 443 }, "says https"],
        [{ name: "mysql-main", port: 3306 }, "says mysql-main"],
    ])("whose port %j is no HTTP in clear text, if a status answers or a match is set", (port, reason) => {
        expect(reasonFor({ ports: [port] }, 503)).toBe(
            `abort with status 503 answers HTTP in clear text, and its port ${port.port} ${reason}; allowed: "reset" ` +
                'or "hang", which hit whole connections',
        );
        expect(reasonFor({ ports: [port] }, { grpc: 14 })).toContain(
            `abort with gRPC status UNAVAILABLE answers gRPC in clear text, and its port ${port.port} ${reason}; `,
        );
        expect(reasonFor({ ports: [port] }, "reset", { path: "/a" })).toContain(
            `match reads requests in HTTP in clear text, and its port ${port.port} ${reason}; allowed: no match`,
        );
        expect(reasonFor({ ports: [port] }, "reset")).toBeUndefined();
        expect(reasonFor({ ports: [port] })).toBeUndefined();
    });
});

it.each([
    { name: "grpc", port: 80 },
    { name: "h2c-api", port: 80 },
    { port: 80, appProtocol: "kubernetes.io/h2c" },
])("a port of gRPC or HTTP/2 in clear text, %j, is none that a status or a match excludes", (port) => {
    expect(reasonFor({ ports: [port] }, 503, { path: "/a" })).toBeUndefined();
    expect(reasonFor({ ports: [port] }, { grpc: "UNAVAILABLE" })).toBeUndefined();
});

describe("ports of a Service that lead to the same port of its pods", () => {
    const portsOf = async (...targetPorts: (string | number)[]) => {
        const cluster = new FakeCluster();
        const ports = targetPorts.map((targetPort, index) => ({ name: `port-${index}`, port: 80 + index, targetPort }));
        cluster.add("Service", "hot-deals", { spec: { ...spec, ports } });
        const containers = [{ name: "it", ports: ["http", "web"].map((name) => ({ name, containerPort: 8080 })) }];
        cluster.add("Pod", "hot-deals-1", { metadata: { labels: spec.selector }, spec: { containers } });
        return (await findService(cluster.api, "demo", { service: "hot-deals" })).found.ports;
    };

    it("are one port of its proxy, with its name", async () => {
        expect(containerPorts(await portsOf("http", 8080))).toEqual([{ containerPort: 8080, name: "http" }]);
        expect(containerPorts(await portsOf(8080, "http"))).toEqual([{ containerPort: 8080, name: "http" }]);
        expect(containerPorts(await portsOf(8080, 8081))).toEqual([{ containerPort: 8080 }, { containerPort: 8081 }]);
    });

    it("by two names are two ports of its proxy, with a name each", async () =>
        expect(containerPorts(await portsOf("http", "web"))).toEqual([
            { containerPort: 8080, name: "http" },
            { containerPort: 18_080, name: "web" },
        ]));
});

/** A Service, and its pods with these containers and fields, as `findService` finds it. */
const foundAmong = (
    ports: V1ServicePort[],
    pods: (Partial<V1PodSpec> & { phase?: string; annotations?: Record<string, string> })[],
    metadata: V1ObjectMeta = {},
    changes: Partial<V1ServiceSpec> = {},
    cluster = new FakeCluster(),
) => {
    cluster.add("Service", "hot-deals", { metadata, spec: { ...spec, ports, ...changes } });
    for (const [index, { phase = "Running", annotations, ...fields }] of pods.entries())
        cluster.add("Pod", `hot-deals-${index + 1}`, {
            metadata: { labels: changes.selector ?? spec.selector, annotations },
            spec: { containers: [], ...fields },
            status: { phase, conditions: [{ type: "Ready", status: "True" }] },
        });
    return findService(cluster.api, "demo", { service: "hot-deals" });
};
const listening = (named: Record<string, number>) => {
    const ports = Object.entries(named).map(([name, containerPort]) => ({ name, containerPort }));
    return { containers: [{ name: "it", ports }] };
};

describe("a named target port", () => {
    const http = [{ port: 80, targetPort: "http" }];

    it("has the number of each pod; the proxy listens at one of these", async () => {
        const { found } = await foundAmong(http, [listening({ http: 8080 }), listening({ http: 9090 })]);
        const elsewhere = { "hot-deals-2": 9090 };
        expect(found.ports).toEqual([{ name: "", port: 80, target: "http", listen: 8080, elsewhere }]);
    });

    it("may be a native sidecar's, and no other init container's", async () => {
        const ports = [{ name: "http", containerPort: 9443 }];
        const sidecar = { initContainers: [{ name: "entry", ports, restartPolicy: "Always" }] };
        expect((await foundAmong(http, [sidecar])).found.ports[0]!.listen).toBe(9443);
        await expect(foundAmong(http, [{ initContainers: [{ name: "setup", ports }] }])).rejects.toThrow(
            "none of its pods has a TCP port named http",
        );
    });

    it("may be missing in some pods: the Service does not lead there", async () => {
        const two = [...http.map((one) => ({ ...one, name: "main" })), { name: "more", port: 81, targetPort: "more" }];
        const pods = [listening({ http: 8080 }), listening({ http: 8080, more: 8081 }), listening({})];
        const { found, conditions } = await foundAmong(two, pods);
        expect(found.ports.map(({ without }) => without)).toEqual([["hot-deals-3"], ["hot-deals-1", "hot-deals-3"]]);
        expect(conditions).toBe("k8s.label.app=hot-deals,k8s.pod.name!=hot-deals-3");
        const chosen = { found, targets: [{ pod: "hot-deals-1" }] };
        expect(reportedOf({ attack: { match: { method: "GET" } }, chosen } as never)).toEqual({
            hit: ["hot-deals-1 through hot-deals:80"],
            spared: ["hot-deals-2 through hot-deals:80", "hot-deals-2 through hot-deals:81"],
            passed: ["hot-deals-1 through hot-deals:80, with a request by another method"],
        });
    });

    it("shares no port of the proxy with a number that it does not have in all pods", async () => {
        const two = [...http.map((one) => ({ ...one, name: "main" })), { name: "more", port: 81, targetPort: 8080 }];
        const { found } = await foundAmong(two, [listening({ http: 8080 }), listening({ http: 9090 })]);
        expect(found.ports.map(({ listen }) => listen)).toEqual([9090, 8080]);
    });
});

it("pods that have ended are no pods of a Service", async () => {
    const pods = [listening({ http: 8080 }), { ...listening({ http: 9090 }), phase: "Succeeded" }];
    const { found } = await foundAmong([{ port: 80, targetPort: "http" }], [...pods, { phase: "Failed" }]);
    expect(found.pods).toEqual(["hot-deals-1"]);
    expect(found.ports).toEqual([{ name: "", port: 80, target: "http", listen: 8080 }]);
});

it("the proxy asks the pods by the first family of the Service, in which callers by default do", async () => {
    const { found } = await foundAmong([{ port: 80 }], [{}], {}, { ipFamilies: ["IPv6", "IPv4"] });
    expect(found.family).toBe("IPv6");
});

it("a fault is refused for a Service that has EndpointSlices by hand beside those of its selector", async () => {
    const cluster = new FakeCluster();
    cluster.add("Service", "hot-deals", { spec });
    cluster.add("Pod", "hot-deals-1", { metadata: { labels: spec.selector }, spec: { containers: [] } });
    const finding = () => findService(cluster.api, "demo", { service: "hot-deals" });
    await expect(finding()).resolves.toBeDefined();
    cluster.add("EndpointSlice", "by-hand", {
        metadata: { labels: { "kubernetes.io/service-name": "hot-deals" } },
        endpoints: [{ addresses: ["203.0.113.7"] }],
    });
    await expect(finding()).rejects.toThrow("its EndpointSlice by-hand is not made by its selector");
});

it("a label in a selector may be empty", async () => {
    const selector = { app: "hot-deals", tier: "" };
    const { conditions, found } = await foundAmong([{ port: 80 }], [{}], {}, { selector });
    expect([conditions, found.pods]).toEqual(["k8s.label.app=hot-deals,k8s.label.tier=", ["hot-deals-1"]]);
});

const isUnfit = (finding: Promise<unknown>, words: string | RegExp) =>
    expect(finding).rejects.toMatchObject({
        reason: { code: "service-unfit", message: expect.stringMatching(words) },
    });

describe("a fault is refused before anything is attacked if callers go past a Service:", () => {
    const aws = "service.beta.kubernetes.io/aws-load-balancer";
    const neg = "cloud.google.com/neg";
    const balanced = { type: "LoadBalancer" };
    type Row = [annotations: Record<string, string>, changes?: Partial<V1ServiceSpec>];

    it.each<Row>([
        [{ [`${aws}-nlb-target-type`]: "ip" }, balanced],
        [{ [`${aws}-type`]: "nlb-ip" }, balanced],
        [{ "alb.ingress.kubernetes.io/target-type": "ip" }],
        [{ [neg]: '{"exposed_ports": {"80": {}}}' }],
        [{ [neg]: '{"ingress": true}', [`${neg}-status`]: '{"network_endpoint_groups":{"80":"k8s1"}}' }],
        [{ "service.beta.kubernetes.io/backend-type": "eni" }, balanced],
        [{ "service.cloud.tencent.com/direct-access": "true" }, balanced],
    ])("%j", (annotations, changes) =>
        isUnfit(
            foundAmong([{ port: 80 }], [{}], { annotations }, changes),
            "shows that a load balancer sends requests directly to its pods",
        ),
    );

    it.each<Row>([
        [{ [`${aws}-nlb-target-type`]: "instance" }, balanced],
        [{ [`${aws}-nlb-target-type`]: "ip" }],
        [{ [neg]: '{"ingress": true}' }],
        [{ [neg]: "no JSON" }],
        [{}, balanced],
    ])("but not by %j", async (annotations, changes) => {
        await foundAmong([{ port: 80 }], [{}], { annotations }, changes);
    });

    it("by a readiness gate that is named after it", async () => {
        const gated = (conditionType: string) => foundAmong([{ port: 80 }], [{ readinessGates: [{ conditionType }] }]);
        await expect(gated("target-health.elbv2.k8s.aws/k8s-demo-hotdeals-0123456789")).rejects.toThrow(
            "load balancer",
        );
        await gated("target-health.elbv2.k8s.aws/k8s-demo-another-0123456789");
    });

    describe("by a TargetGroupBinding, as controllers make for an Ingress with the target type ip", () => {
        /** @param groups those that the API server has */
        const bound = (targetType: string, service = "hot-deals", groups = ["elbv2.k8s.aws"]) => {
            const cluster = new FakeCluster();
            cluster.intercept = (_, { resource: { kind, apiGroup } }: FakeRequest) =>
                void (kind === "TargetGroupBinding" && !groups.includes(apiGroup) && refuse(404, "404 page not found"));
            const spec = { targetType, serviceRef: { name: service, port: 80 } };
            cluster.add("TargetGroupBinding", "k8s-demo-1", { spec });
            return foundAmong([{ port: 80 }], [{}], {}, {}, cluster);
        };

        it.each(["elbv2.k8s.aws", "eks.amazonaws.com"])("of %s", (group) =>
            expect(bound("ip", "hot-deals", [group])).rejects.toThrow(
                "the TargetGroupBinding k8s-demo-1 shows that a load balancer sends requests directly to its pods",
            ),
        );

        it("but not by one of nodes, of another Service, or where there are none", async () => {
            await bound("instance");
            await bound("ip", "another");
            await bound("ip", "hot-deals", []);
        });

        it("and not if the account may not list them", async () => {
            const cluster = new FakeCluster();
            cluster.refuses("list TargetGroupBinding", 403, "forbidden");
            await foundAmong([{ port: 80 }], [{}], {}, {}, cluster);
        });
    });
});

describe("a fault is refused for a Service whose selector a controller writes back:", () => {
    const ofCanary = (apiVersion: string) => ({
        ownerReferences: [{ apiVersion, kind: "Canary", name: "hot-deals", uid: "1" }],
    });
    const managed = { annotations: { "argo-rollouts.argoproj.io/managed-by-rollouts": "hot-deals" } };
    const selector = { app: "hot-deals", "rollouts-pod-template-hash": "6579c6cc98" };
    it.each<[shown: string, V1ObjectMeta, Partial<V1ServiceSpec>?]>([
        ["its annotation argo-rollouts.argoproj.io/managed-by-rollouts shows that Argo Rollouts", managed],
        ["rollouts-pod-template-hash in its selector shows that Argo Rollouts", {}, { selector }],
        ["its owner Canary hot-deals shows that Flagger", ofCanary("flagger.app/v1beta1")],
    ])("%s", (shown, metadata, changes) =>
        isUnfit(
            foundAmong([{ port: 80 }], [{}], metadata, changes),
            new RegExp(`${shown} .*would write .* back.* Use a blackhole`),
        ),
    );

    it("but not for one that another kind of Canary owns", () =>
        foundAmong([{ port: 80 }], [{}], ofCanary("example.com/v1")));
});

describe("a fault is refused for a Service that Cilium shares among clusters", () => {
    it.each<Record<string, string>>([
        { "service.cilium.io/global": "true" },
        { "io.cilium/global-service": "True" },
        { "service.cilium.io/global": "true", "service.cilium.io/shared": "false" },
    ])("%j", (annotations) => isUnfit(foundAmong([{ port: 80 }], [{}], { annotations }), "pods of other clusters"));

    it.each<Record<string, string>>([
        { "service.cilium.io/global": "false" },
        { "service.cilium.io/global": "false", "io.cilium/global-service": "true" },
        { "service.cilium.io/shared": "true" },
    ])("but not %j", async (annotations) => {
        await foundAmong([{ port: 80 }], [{}], { annotations });
    });
});

describe("a fault is refused before anything is attacked if a pod of the Service is in a mesh:", () => {
    it.each<[string, Partial<V1PodSpec> & { annotations?: Record<string, string> }]>([
        ["Istio", { containers: [{ name: "it" }, { name: "istio-proxy" }] }],
        ["Istio", { initContainers: [{ name: "istio-proxy", restartPolicy: "Always" }] }],
        ["Istio", { annotations: { "ambient.istio.io/redirection": "enabled" } }],
        ["Linkerd", { initContainers: [{ name: "linkerd-proxy", restartPolicy: "Always" }] }],
        ["Kuma", { containers: [{ name: "kuma-sidecar" }] }],
        ["Consul", { containers: [{ name: "consul-dataplane" }] }],
    ])("%s, as in %j", (mesh, meshed) =>
        isUnfit(foundAmong([{ port: 80 }], [{}, meshed]), `its pod hot-deals-2 is in the service mesh ${mesh}`),
    );
});

it("a fault is refused for a Service that is not there", () =>
    isUnfit(
        findService(new FakeCluster().api, "demo", { service: "hot-deals" }),
        /^there is no Service hot-deals in namespace demo$/,
    ));
