import { beforeEach, describe, expect, it } from "vitest";
import { awaitReady } from "../../../../components/cluster/ready";
import type { Cluster } from "../../../../chaos/cluster/client";
import { runAs } from "../../../support/running-stack";

beforeEach(() => runAs("local"));

interface DaemonSet {
    name: string;
    ready: number;
    /** Whether its controller has seen it as it is now. @default true */
    seen?: boolean;
}

const daemonSet = ({ name, ready, seen = true }: DaemonSet) => ({
    metadata: { name, generation: 2 },
    status: {
        desiredNumberScheduled: 1,
        numberAvailable: ready,
        updatedNumberScheduled: 1,
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
function wait(daemonSets: DaemonSet[], pods: object[] = []) {
    const list = (items: unknown[]) => async () => ({ items });
    const cluster = {
        apps: {
            listNamespacedDaemonSet: list(daemonSets.map(daemonSet)),
            listNamespacedDeployment: list([]),
            listNamespacedStatefulSet: list([]),
        },
        core: { listNamespacedPod: list(pods), listNamespacedEvent: list([]) },
    } as unknown as Cluster;
    return awaitReady(
        cluster,
        "the agent",
        [{ namespace: "demo-agent", includes: ({ name }) => name === "agent" }],
        Date.now(),
        8_000,
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
                "image\nLook at `kubectl --namespace demo-agent describe pods`; fix the cause, then run " +
                "`npx pulumi up --stack local` again.",
        );
    });
});
