import * as pulumi from "@pulumi/pulumi";
import { beforeEach, describe, expect, it } from "vitest";
import { gatewayOutputs } from "../../../../components/cluster/gateway-outputs";
import type { StackCluster } from "../../../../components/cluster/cluster";
import { awaitWorkloads, type InstalledShop } from "../../../../components/cluster/workloads";
import type { Making } from "../../../../components/cluster/waiting";
import type { StackConfiguration } from "../../../../components/configuration/read";
import { FakeCluster } from "../../chaos/support/fake-cluster";

const hourMs = 3_600_000;
const timeoutMs = 3_000;
const made = { install: { kind: "program" }, images: {} } as Making;

let cluster: FakeCluster;

beforeEach(async () => {
    await pulumi.runtime.setMocks({ newResource: ({ inputs }) => ({ id: "id", state: inputs }), call: () => ({}) });
    cluster = new FakeCluster();
});

/** A stamp of the cluster: so long ago by its clock. */
const stamp = (agoMs: number) => new Date(Date.now() + cluster.clockAheadMs - agoMs);
const valueOf = <T>(output: pulumi.Output<T>) => new Promise<T>((resolve) => void output.apply(resolve));

/** How a new Service and a new pod are waited for, whose cluster's clock differs from this machine's. */
describe.each([
    ["an hour ahead", hourMs],
    ["an hour behind", -hourMs],
])("the cluster's clock is %s", (_, aheadMs) => {
    beforeEach(() => void (cluster.clockAheadMs = aheadMs));

    const gateway = () => {
        const metadata = pulumi.output({ name: "gateway", namespace: "demo" });
        const configuration = {
            namespace: "demo",
            gateway: { addressTimeoutMs: timeoutMs, serviceType: "LoadBalancer" },
        };
        const context = { name: "test", server: "https://a.example" };
        return valueOf(
            gatewayOutputs(
                { id: pulumi.output("gateway"), metadata },
                configuration as StackConfiguration,
                { api: cluster.api, context } as StackCluster,
            ).gateway,
        );
    };
    const service = (agoMs: number, ingress: object[] = []) =>
        cluster.add("Service", "gateway", {
            metadata: { creationTimestamp: stamp(agoMs) },
            spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
            status: { loadBalancer: { ingress } },
        });

    it("the address of a new Service is awaited", async () => {
        service(0);
        setTimeout(() => service(500, [{ ip: "192.0.2.7" }]), 500);
        expect(await gateway()).toMatchObject({ host: "192.0.2.7" });
    });

    it("the address of an old Service is not", async () => {
        service(60_000);
        expect(await gateway()).toMatch(/^no external address yet/);
    }, 2_000);

    const workloads = (agoMs: number) => {
        const labels = { app: "orders" };
        const selector = { matchLabels: labels };
        const ready = {
            observedGeneration: 1,
            replicas: 1,
            updatedReplicas: 1,
            readyReplicas: 1,
            availableReplicas: 1,
        };
        const deployment = (status: object) =>
            cluster.add("Deployment", "orders", {
                metadata: { creationTimestamp: stamp(60_000), generation: 1 },
                spec: { replicas: 1, selector },
                status: { observedGeneration: 1, ...status },
            });
        deployment({});
        cluster.add("Pod", "orders-1", {
            metadata: { labels, creationTimestamp: stamp(agoMs) },
            status: { phase: "Pending" },
        });
        setTimeout(() => deployment(ready), 700);
        const shop = { installed: pulumi.output(true), mayStayPending: ["orders"] } as unknown as InstalledShop;
        return valueOf(awaitWorkloads(shop, { ...made, namespace: "demo", ordersReadyTimeoutMs: timeoutMs }, cluster));
    };

    it("a new pod is awaited", async () => {
        expect(await workloads(0)).toEqual({ orders: "1 of 1 ready" });
    });

    it("a pod that has long been pending is not", async () => {
        expect(await workloads(60_000)).toMatchObject({ orders: expect.stringMatching(/^0 of 1 ready/) });
    }, 2_000);
});
