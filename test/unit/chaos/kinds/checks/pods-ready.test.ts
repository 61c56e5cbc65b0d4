import type { V1Pod } from "../../../../../chaos/values/kubernetes-types";
import { Kubeconfig } from "../../../../../chaos/cluster/kubeconfig";
import type { Resource } from "../../../../../chaos/cluster/resources";
import { describe, expect, it } from "vitest";
import { Endpoints } from "../../../../../chaos/kinds/checks/endpoints";
import { podsReady, readyAmong } from "../../../../../chaos/kinds/checks/pods-ready";
import { ApiError, type Cluster } from "../../../../../chaos/cluster/client";

describe("the podsReady check", () => {
    const pod = (name: string, ready: boolean, changes: Partial<V1Pod["metadata"]> = {}): V1Pod => ({
        metadata: {
            name,
            namespace: "demo",
            uid: name,
            ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "set", uid: "set" }],
            ...changes,
        },
        spec: { containers: [{ name: "hot-deals" }] },
        status: {
            phase: "Running",
            podIP: "10.0.0.1",
            conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
        },
    });
    const replicaSets = [
        {
            metadata: {
                uid: "set",
                ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "hot-deals", uid: "d" }],
            },
        },
    ];
    const pods = [
        pod("a", true),
        pod("b", false),
        pod("c", true, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
        pod("d", true, { ownerReferences: [] }),
    ];

    it("counts ready pods that match, but none that is being deleted", () =>
        expect(readyAmong(pods, replicaSets, "k8s.deployment=hot-deals", "local")).toBe(1));

    it("knows nothing about the application if the API server does not answer, or has no such namespace", async () => {
        let read = () => Promise.resolve();
        const listed = (items: Promise<V1Pod[]>) =>
            ({
                kubeconfig: new Kubeconfig(),
                all: ({ kind }: Resource) => (kind === "Pod" ? items : Promise.resolve(replicaSets)),
                read,
            }) as unknown as Cluster;
        const ask = (cluster: Cluster) =>
            podsReady.probe(
                { kind: "podsReady", of: "k8s.deployment=hot-deals" },
                { cluster, endpoints: new Endpoints(cluster, "demo"), defaultNamespace: "demo", clusterName: "local" },
                200,
            );
        expect(await ask(listed(Promise.resolve(pods)))).toMatchObject({ good: true });
        expect(await ask(listed(Promise.resolve([])))).not.toHaveProperty("unseen");
        expect(await ask(listed(Promise.reject(new Error("connect ECONNREFUSED"))))).toMatchObject({
            good: false,
            unseen: true,
        });
        expect(await ask(listed(new Promise(() => {})))).toMatchObject({ good: false, unseen: true });
        read = () => Promise.reject(new ApiError(404));
        expect(await ask(listed(Promise.resolve([])))).toMatchObject({
            unseen: true,
            problem: expect.stringMatching(/^namespace demo does not exist\. Create it, or name another one/),
        });
    });
});
