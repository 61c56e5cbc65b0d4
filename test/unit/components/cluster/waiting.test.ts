import { Kubeconfig } from "../../../../chaos/cluster/kubeconfig";
import type { V1Deployment, V1Pod } from "../../../../chaos/values/kubernetes-types";
import { beforeEach, describe, expect, it } from "vitest";
import { type Making, whatItWaitsFor } from "../../../../components/cluster/waiting";
import { runAs } from "../../../support/running-stack";

const kubeconfig = new Kubeconfig();
kubeconfig.setCurrentContext("kind-a");
const cluster = { kubeconfig };

beforeEach(() => runAs("local"));

const images = { node: "node:22", postgres: "postgres:15.18", nats: "nats:2.9.10" };
const making = (kind: Making["install"]["kind"] = "program") => ({ install: { kind }, images }) as Making;

const deployment = (status: V1Deployment["status"] = {}): V1Deployment => ({
    metadata: { name: "orders", namespace: "demo", generation: 2 },
    spec: {
        replicas: 1,
        selector: {},
        template: {
            spec: {
                initContainers: [{ name: "configuration", image: images.node }],
                containers: [{ name: "orders", image: images.nats }],
            },
        },
    },
    status: { observedGeneration: 2, ...status },
});
const pod = (status: V1Pod["status"]): V1Pod => ({ metadata: { name: "orders-1" }, status });
const unscheduled = (message: string) =>
    pod({ phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", message }] });
const waiting = (reason: string, more: object = {}) => ({ name: "orders", state: { waiting: { reason } }, ...more });
/** A pod whose container waits, and its first container if that does, too. */
const starting = (container: object, first?: object) =>
    pod({
        phase: "Pending",
        containerStatuses: [container],
        initContainerStatuses: first && [first],
    } as V1Pod["status"]);
const whole = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };

describe("the output says why a workload is not ready, and what to do, if", () => {
    const refused = { conditions: [{ type: "ReplicaFailure", status: "True", message: "exceeded quota: small" }] };
    const notFound = { state: { waiting: { reason: "ErrImagePull", message: "not found" } } };
    const lastState = { terminated: { exitCode: 137, reason: "OOMKilled" } };
    const labels = { "chaos-experiments/target": "orders-blackhole.blackhole" };
    const attacked = { metadata: { name: "orders-1", labels }, status: { phase: "Running" } };

    it.each<[what: string, found: V1Pod, words: RegExp]>([
        [
            "no node has room",
            unscheduled("0/1 nodes are available: 1 Insufficient memory."),
            new RegExp(
                "^orders is Pending: no node takes it: 0/1 nodes are available: 1 Insufficient memory\\. " +
                    "Make room .*`npx pulumi up --stack local` again\\.$",
            ),
        ],
        [
            "its image cannot be pulled",
            starting(waiting("", notFound)),
            /^orders is Pending: .*ErrImagePull: not found\. Set an image.*images\.nats IMAGE/,
        ],
        [
            "the image of its first container cannot be pulled",
            starting(waiting("PodInitializing"), waiting("ImagePullBackOff", { name: "configuration" })),
            /does not start: ImagePullBackOff\. Set an image .*images\.node IMAGE/,
        ],
        [
            "no node has a taint that it tolerates, and enough memory",
            unscheduled("1 Insufficient memory, 2 node(s) had untolerated taint {dedicated: demo}."),
            /Make room \(.*\) or tolerate the taint \(`.* config set nodes\.tolerations TAINTS --stack local`\), and/,
        ],
        [
            "no node has the labels that it selects",
            unscheduled("3 node(s) didn't match Pod's node affinity/selector."),
            /\. Select labels that a node has \(`.* config set nodes\.selector LABELS --stack local`\), and/,
        ],
        [
            "its nodes have a problem",
            unscheduled("1 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }."),
            /no node takes it: .*\. Fix the cause, and run/,
        ],
        [
            "its program ends",
            starting(waiting("CrashLoopBackOff")),
            /Look at `kubectl --context kind-a --namespace demo logs orders-1 --container orders --previous`/,
        ],
        [
            "its program ends with a code",
            starting(waiting("CrashLoopBackOff", { lastState })),
            /does not start: CrashLoopBackOff; it ended with code 137 \(OOMKilled\)\. Look at/,
        ],
        ["its container is being created", starting(waiting("ContainerCreating")), /its container is starting/],
        [
            "an experiment attacks it",
            attacked,
            /^orders was under attack by the experiment orders-blackhole\. The next update checks it again\.$/,
        ],
        ["it does not become ready", pod({ phase: "Running" }), /readiness probe/],
    ])("%s", (_what, found, words) => expect(whatItWaitsFor(cluster, deployment(), [found], making())).toMatch(words));

    it("the cluster admits no pod", () =>
        expect(whatItWaitsFor(cluster, deployment(refused), [], making())).toMatch(
            /^orders has no pod: .*exceeded quota: small\. Fix the cause.*namespace demo/,
        ));

    it.each<[Making["install"]["kind"], string, RegExp]>([
        [
            "chart",
            "2 node(s) had untolerated taint {dedicated: demo}",
            /Tolerate the taint \(in `chart\.values`\), and/,
        ],
        ["manifest", "2 node(s) had untolerated taint {dedicated: demo}", /config set nodes\.tolerations TAINTS/],
    ])("a pod of a %s is not placed by a setting that it does not heed", (kind, message, words) =>
        expect(whatItWaitsFor(cluster, deployment(), [unscheduled(message)], making(kind))).toMatch(words),
    );

    it("an image that no setting names is to be changed where it is named", () => {
        const found = starting(waiting("ImagePullBackOff"));
        expect(whatItWaitsFor(cluster, deployment(), [found], making("chart"))).toMatch(
            /ImagePullBackOff\. Have orders use an image that the cluster can pull, and run/,
        );
    });

    it("a ready workload has nothing to wait for", () =>
        expect(whatItWaitsFor(cluster, deployment(whole), [pod({ phase: "Running" })], making())).toBeUndefined());
    it("a workload whose pods are not ready for as long as it asks is not ready", () =>
        expect(
            whatItWaitsFor(cluster, deployment({ ...whole, availableReplicas: undefined }), [], making()),
        ).toBeDefined());
    it("a workload whose change the cluster has not seen yet is not ready", () =>
        expect(whatItWaitsFor(cluster, deployment({ ...whole, observedGeneration: 1 }), [], making())).toBeDefined());
});
