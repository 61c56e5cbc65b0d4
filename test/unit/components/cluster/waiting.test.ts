import { KubeConfig, type V1Deployment, type V1Pod } from "@kubernetes/client-node";
import { beforeEach, describe, expect, it } from "vitest";
import { whatItWaitsFor } from "../../../../components/cluster/waiting";
import { runAs } from "../../../support/running-stack";

const kubeconfig = new KubeConfig();
kubeconfig.setCurrentContext("kind-a");
const cluster = { kubeconfig };

beforeEach(() => runAs("local"));

const deployment = (status: V1Deployment["status"] = {}): V1Deployment => ({
    metadata: { name: "orders", namespace: "demo", generation: 2 },
    spec: { replicas: 1, selector: {}, template: {} },
    status: { observedGeneration: 2, ...status },
});
const pod = (status: V1Pod["status"]): V1Pod => ({ metadata: { name: "orders-1" }, status });
const whole = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };

describe("the output says why a workload is not ready, and what to do, if", () => {
    it.each<[what: string, found: V1Deployment, pods: V1Pod[], words: RegExp]>([
        [
            "no node has room",
            deployment(),
            [
                pod({
                    phase: "Pending",
                    conditions: [
                        {
                            type: "PodScheduled",
                            status: "False",
                            message: "0/1 nodes are available: 1 Insufficient memory.",
                        },
                    ],
                }),
            ],
            new RegExp(
                "^orders is Pending: no node has room for it: 0/1 nodes are available: 1 Insufficient memory\\. " +
                    "Make room .*`npx pulumi up --stack local` again\\.$",
            ),
        ],
        [
            "the cluster admits no pod",
            deployment({ conditions: [{ type: "ReplicaFailure", status: "True", message: "exceeded quota: small" }] }),
            [],
            /^orders has no pod: .*exceeded quota: small\. Fix the cause.*namespace demo/,
        ],
        [
            "its image cannot be pulled",
            deployment(),
            [
                pod({
                    phase: "Pending",
                    containerStatuses: [
                        { state: { waiting: { reason: "ErrImagePull", message: "not found" } } } as never,
                    ],
                }),
            ],
            /^orders is Pending: .*ErrImagePull: not found\. Set an image.*images\.node/,
        ],
        [
            "its program ends",
            deployment(),
            [
                pod({
                    phase: "Running",
                    containerStatuses: [{ state: { waiting: { reason: "CrashLoopBackOff" } } } as never],
                }),
            ],
            /CrashLoopBackOff\. Look at `kubectl --context kind-a --namespace demo logs orders-1 --previous`/,
        ],
        [
            "its program ends with a code",
            deployment(),
            [
                pod({
                    phase: "Running",
                    containerStatuses: [
                        {
                            state: { waiting: { reason: "CrashLoopBackOff" } },
                            lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } },
                        } as never,
                    ],
                }),
            ],
            /does not start: CrashLoopBackOff; it ended with code 137 \(OOMKilled\)\. Look at/,
        ],
        [
            "its container is being created",
            deployment(),
            [
                pod({
                    phase: "Pending",
                    containerStatuses: [{ state: { waiting: { reason: "ContainerCreating" } } } as never],
                }),
            ],
            /its container is starting/,
        ],
        [
            "an experiment attacks it",
            deployment(),
            [
                {
                    metadata: {
                        name: "orders-1",
                        labels: { "chaos-experiments/target": "orders-blackhole.blackhole" },
                    },
                    status: { phase: "Running" },
                },
            ],
            /^orders was under attack by the experiment orders-blackhole\. The next update checks it again\.$/,
        ],
        ["it does not become ready", deployment(), [pod({ phase: "Running" })], /readiness probe/],
    ])("%s", (_what, found, pods, words) => expect(whatItWaitsFor(cluster, found, pods)).toMatch(words));

    it("a ready workload has nothing to wait for", () =>
        expect(whatItWaitsFor(cluster, deployment(whole), [pod({ phase: "Running" })])).toBeUndefined());
    it("a workload whose pods are not ready for as long as it asks is not ready", () =>
        expect(whatItWaitsFor(cluster, deployment({ ...whole, availableReplicas: undefined }), [])).toBeDefined());
    it("a workload whose change the cluster has not seen yet is not ready", () =>
        expect(whatItWaitsFor(cluster, deployment({ ...whole, observedGeneration: 1 }), [])).toBeDefined());
});
