import { beforeEach, describe, expect, it } from "vitest";
import { tcpPortsOf } from "../../../../chaos/values/kubernetes-rules";
import { endpointsOf } from "../../../../chaos/witness/api";
import { servicePorts } from "../../../../chaos/targets/service-ports";
import { FakeCluster, refuse } from "../support/fake-cluster";

let cluster: FakeCluster;
beforeEach(() => {
    cluster = new FakeCluster();
});

const container = { name: "web", ports: [{ name: "main", containerPort: 8080 }] };

function add(selector: object | undefined, ...ports: object[]): void {
    cluster.add("Service", "web", { spec: { selector, ports } });
}
const target = { uid: "1", namespace: "demo", address: "10.0.0.1" };
async function found(containers: object[] = [container]): Promise<number[] | undefined> {
    cluster.add("Pod", "web-1", { metadata: { uid: "1", labels: { app: "web" } }, spec: { containers } });
    return (await servicePorts(cluster.api, "demo", [target])).get("1");
}

describe("a target has the TCP ports to which Services lead", () => {
    it.each<[string, object, number[]]>([
        ["by number, declared or not", { port: 80, targetPort: 9090 }, [9090]],
        ["by the name of a port that it declares", { port: 80, targetPort: "main" }, [8080]],
        ["by the Service's own", { port: 80 }, [80]],
        ["none by UDP", { port: 53, protocol: "UDP" }, []],
        ["none by a name that it does not have", { port: 80, targetPort: "other" }, []],
    ])("%s", async (_, port, ports) => {
        add({ app: "web" }, port);
        expect(await found()).toEqual(ports);
    });

    it("none of a Service that selects others, or nobody", async () => {
        add({ app: "toys" }, { port: 80 });
        cluster.add("Service", "external", { spec: { ports: [{ port: 81 }] } });
        expect(await found()).toEqual([]);
    });

    it("of a Service without a selector, by EndpointSlices that somebody has made", async () => {
        add(undefined, { port: 80 });
        cluster.add("EndpointSlice", "web", {
            metadata: { labels: { "kubernetes.io/service-name": "web" } },
            endpoints: [{ addresses: [target.address] }],
            ports: [{ port: 7070 }, { port: 53, protocol: "UDP" }],
        });
        expect(await found()).toEqual([7070]);
    });

    it("by selectors, if the account may not list EndpointSlices; none, if not even Services", async () => {
        add({ app: "web" }, { port: 80, targetPort: "main" });
        const refused = ["list EndpointSlice"];
        cluster.intercept = (call) => void (refused.includes(call) && refuse(403, "forbidden"));
        expect(await found()).toEqual([8080]);
        refused.push("list Service");
        expect(await found()).toEqual([]);
    });

    it("and the Job tries them, too, by the annotation on its pod", () => {
        const pod = { spec: { containers: [container] }, status: { podIP: "10.0.0.1" } };
        const annotations = { "chaos-experiments/ports": "9090,70000,x" };
        const endpoints = endpointsOf({ ...pod, metadata: { annotations } });
        expect(endpoints).toEqual(["10.0.0.1:8080", "10.0.0.1:9090"]);
    });
});

describe("a pod has the TCP ports of its probes", () => {
    it.each<[string, object, number[]]>([
        ["HTTP", { readinessProbe: { httpGet: { port: 9090 } } }, [9090]],
        ["TCP", { livenessProbe: { tcpSocket: { port: "9090" } } }, [9090]],
        ["gRPC", { startupProbe: { grpc: { port: 9090 } } }, [9090]],
        ["none of a command", { readinessProbe: { exec: { command: ["true"] } } }, []],
        ["none of another host", { readinessProbe: { httpGet: { host: "example.com", port: 443 } } }, []],
    ])("%s", (_, probes, ports) =>
        expect(tcpPortsOf({ spec: { containers: [{ name: "web", ...probes }] } })).toEqual(ports),
    );

    it("by name, as it declares them, each once", () => {
        const probed = { ...container, readinessProbe: { httpGet: { port: "main" } } };
        expect(tcpPortsOf({ spec: { containers: [probed] } })).toEqual([8080]);
    });
});
