import { ApiError, type Cluster } from "../../../../chaos/cluster/client";
import type { Resource } from "../../../../chaos/cluster/resources";
import type { V1Pod } from "../../../../chaos/values/kubernetes-types";
import { beforeEach, describe, expect, it } from "vitest";
import { leftOutOf } from "../../../../components/cluster/left-out";
import { awaitReady } from "../../../../components/cluster/ready";
import { runAs } from "../../../support/running-stack";

beforeEach(() => runAs("local"));

interface DaemonSet {
    name: string;
    ready: number;
    /** Pods that its controller wants. @default 1 */
    wanted?: number;
    /** Whether its controller has seen it as it is now. @default true */
    seen?: boolean;
}

const daemonSet = ({ name, ready, wanted = 1, seen = true }: DaemonSet) => ({
    metadata: { name, uid: name, namespace: "demo-agent", generation: 2 },
    status: {
        desiredNumberScheduled: wanted,
        numberAvailable: ready,
        updatedNumberScheduled: wanted,
        observedGeneration: seen ? 2 : 1,
    },
});
const brokenPod = {
    metadata: { name: "agent-x", namespace: "demo-agent" },
    status: {
        phase: "Pending",
        containerStatuses: [
            {
                name: "agent",
                ready: false,
                state: { waiting: { reason: "ImagePullBackOff", message: "no such image" } },
            },
        ],
    },
};

/** Waits for the DaemonSet `agent` of a cluster that stays as it is. */
function wait(
    daemonSets: DaemonSet[],
    pods: object[] = [],
    listNodes: () => Promise<object[]> = async () => [],
    giveUpAt = Date.now(),
) {
    const lists: Record<string, object[]> = { DaemonSet: daemonSets.map(daemonSet), Pod: pods };
    const cluster = {
        kubeconfig: { getCurrentContext: () => "kind-a" },
        all: async ({ kind }: Resource) => (kind === "Node" ? listNodes() : (lists[kind] ?? [])),
    } as unknown as Cluster;
    return awaitReady(
        cluster,
        "the agent",
        [{ namespace: "demo-agent", includes: ({ name }) => name === "agent" }],
        giveUpAt,
        8_000,
        "Without",
    );
}

describe("an agent is ready", () => {
    it("when all its pods are, even if the agent that it replaces is not", async () => {
        await expect(
            wait([
                { name: "agent", ready: 1 },
                { name: "broken-agent", ready: 0 },
            ]),
        ).resolves.toBe("1 of 1");
    });
    it.each<[string, DaemonSet[]]>([
        ["before a pod is", [{ name: "agent", ready: 0 }]],
        ["while its pods are of an earlier template", [{ name: "agent", ready: 1, seen: false }]],
        ["without a DaemonSet", []],
    ])("not %s", async (_, daemonSets) => {
        await expect(wait(daemonSets)).rejects.toThrow(/^the agent is not ready after 8 s: /);
    });
    it("or the error names the pod, the reason and what to do", async () => {
        await expect(wait([{ name: "agent", ready: 0 }], [brokenPod])).rejects.toThrow(
            "0 of 1 pods are ready.\n  pod demo-agent/agent-x: container agent: ImagePullBackOff: no such " +
                "image\nLook at `kubectl --context kind-a --namespace demo-agent describe pods`; fix the cause, then " +
                "run `npx pulumi up --stack local` again.\nWithout",
        );
    });
});

describe("nodes that cannot run the agent are left out, and counted:", () => {
    const node = (name: string, labels: Record<string, string> = {}, ready = "True") => ({
        metadata: { name, labels: { "kubernetes.io/os": "linux", ...labels } },
        status: { conditions: [{ type: "Ready", status: ready }] },
    });
    const podOn = (nodeName: string, isReady: boolean) => ({
        metadata: { name: `agent-${nodeName}`, namespace: "demo-agent", ownerReferences: [{ uid: "agent" }] },
        spec: { nodeName },
        status: { phase: "Running", conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] },
    });
    const nodes = [
        node("a"),
        node("b", {}, "Unknown"),
        node("c", { "kubernetes.io/os": "windows" }),
        node("d", { "kubernetes.io/os": "windows" }),
        node("e", { "eks.amazonaws.com/compute-type": "fargate" }),
    ];
    const found = async () => nodes;

    it("the update waits for the agent on the others", async () => {
        const pods = [podOn("a", true), podOn("b", false)];
        await expect(wait([{ name: "agent", ready: 1, wanted: 2 }], pods, found)).resolves.toBe(
            "1 of 1 (nodes left out: 1 not ready, 2 with windows, 1 virtual)",
        );
    });

    it("but not a node that is ready, and on which the agent is not", async () => {
        expect(leftOutOf([podOn("a", false) as V1Pod], [node("a")])).toEqual({ pods: 0, why: "" });
        const pods = [podOn("a", false), podOn("b", false)];
        await expect(wait([{ name: "agent", ready: 0, wanted: 2 }], pods, found)).rejects.toThrow("0 of 1 pods");
    });

    it("and if no node may run it, the update fails at once, and says why and how to do without", async () => {
        const virtual = async () => nodes.slice(2);
        await expect(wait([{ name: "agent", ready: 0, wanted: 0 }], [], virtual, Infinity)).rejects.toThrow(
            /^the agent cannot .*: no node may run it \(nodes left out: 2 with windows, 1 virtual\)\.[^]*\nWithout$/,
        );
        const unknown = wait([{ name: "agent", ready: 0, wanted: 0 }], [], async () => []);
        await expect(unknown).rejects.toThrow("not ready after 8 s: 0 of 0 pods are ready.\n");
    });

    it("each once, whether or not an update's surge has put a second pod there", () => {
        const surge = [podOn("b", false), podOn("b", false)] as V1Pod[];
        expect(leftOutOf(surge, [node("b", {}, "Unknown")])).toEqual({ pods: 1, why: "1 not ready" });
    });

    it("none if the account may not list nodes", async () => {
        const forbidden = () => Promise.reject(new ApiError(403));
        const pods = [podOn("a", true), podOn("b", false)];
        await expect(wait([{ name: "agent", ready: 1, wanted: 2 }], pods, forbidden)).rejects.toThrow("1 of 2 pods");
    });
});
