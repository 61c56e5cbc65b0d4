import type { V1Pod, V1ReplicaSet } from "@kubernetes/client-node";
import { choose } from "../../chaos/targets/choose";
import { askApiServer } from "../../chaos/targets/discover";
import type { Cluster } from "../../chaos/cluster/client";
import { describeSamples, type Figure } from "../figure";
import { timed } from "../time";

const pods = 5_000;
const podsPerDeployment = 10;
const rounds = 5;

export const targetChoice: Figure = {
    name: "target-choice",
    meaning: `longest time to choose half of the matches among ${pods} pods, without listing them`,
    bar: 1,
    unit: "s",
    async measure() {
        const cluster = generatedCluster();
        const samples: number[] = [];
        for (let round = 0; round < rounds; round++) {
            samples.push(
                await timed(async () => {
                    const { targets } = choose(
                        await askApiServer(cluster, "bench"),
                        "k8s.deployment=workload-1*,k8s.label.tier!=edge",
                        { kind: "share", share: 0.5 },
                    );
                    if (targets.length !== 555)
                        throw new Error(`${targets.length} containers were chosen instead of 555`);
                }),
            );
        }
        return { value: Math.max(...samples), made: describeSamples(samples), samples: { choice: samples } };
    },
};

/** A fake cluster with generated lists. */
function generatedCluster(): Cluster {
    const replicaSets = Array.from({ length: pods / podsPerDeployment }, (_, index) => replicaSet(index));
    const items = Array.from({ length: pods }, (_, index) => pod(index));
    return {
        core: { listPodForAllNamespaces: async () => ({ items }) },
        apps: { listReplicaSetForAllNamespaces: async () => ({ items: replicaSets }) },
    } as unknown as Cluster;
}

function replicaSet(index: number): V1ReplicaSet {
    return {
        metadata: {
            uid: `rs-${index}`,
            ownerReferences: [
                { apiVersion: "apps/v1", kind: "Deployment", name: `workload-${index}`, uid: `d-${index}` },
            ],
        },
    };
}

function pod(index: number): V1Pod {
    const owner = Math.floor(index / podsPerDeployment);
    const name = `workload-${owner}-${index}`;
    return {
        metadata: {
            name,
            namespace: "bench",
            uid: `p-${index}`,
            labels: { app: `workload-${owner}`, tier: "backend" },
            ownerReferences: [
                { apiVersion: "apps/v1", kind: "ReplicaSet", name: `workload-${owner}-1`, uid: `rs-${owner}` },
            ],
        },
        spec: {
            nodeName: `node-${index % 50}`,
            containers: [{ name: "main", image: "example.com/main:1", ports: [{ containerPort: 8080 }] }],
        },
        status: {
            phase: "Running",
            conditions: [{ type: "Ready", status: "True" }],
            podIP: `10.1.${index >> 8}.${index & 255}`,
            containerStatuses: [
                {
                    name: "main",
                    containerID: `containerd://${index}`,
                    image: "",
                    imageID: "",
                    ready: true,
                    restartCount: 0,
                },
            ],
        },
    };
}
