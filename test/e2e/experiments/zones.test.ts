import { afterAll, beforeAll, expect, it } from "vitest";
import { giveBack, sharedNamespace as namespace, sharedStack } from "../shop/shared";
import type { TestStack } from "../shop/support";

const inZone = {
    "experiment.enabled": "true",
    "experiment.name": "zone-gone",
    "experiment.target": "k8s.zone=zone-a,k8s.deployment=hot-deals",
    "experiment.duration": "4s",
    "experiment.grace": "1s",
    "experiment.interval": "250ms",
};

let stack: TestStack;
beforeAll(async () => {
    stack = await sharedStack();
});
afterAll(() => giveBack(stack));

/** As `kubectl describe pod` reads them. Those of other experiments on the pod stay for an hour. */
async function eventsOn(pod: string) {
    const { metadata } = await stack.cluster.core.readNamespacedPod({ namespace, name: pod });
    const wanted = [`name=${pod}`, `namespace=${namespace}`, `uid=${metadata!.uid}`];
    const fieldSelector = wanted.map((field) => `involvedObject.${field}`).join();
    const { items } = await stack.cluster.core.listNamespacedEvent({ namespace, fieldSelector });
    return items.filter(
        ({ source, message }) =>
            source?.component === "chaos-experiments" && message!.startsWith("Chaos experiment zone-gone"),
    );
}

it("what runs in a zone is cut off, and Events on the pod say so: when it begins, and when it has ended", async () => {
    const { verdict, targets } = await stack.run(inZone);
    expect(verdict).toBe("FAILED");
    expect(targets).toHaveLength(1);
    const pod = targets[0]!.split("/")[1]!;
    const [begun, ...others] = await eventsOn(pod);
    expect(begun).toMatchObject({ type: "Warning", reason: "ChaosAttackBegan" });
    expect(begun!.message).toMatch(/^Chaos experiment zone-gone: this pod is cut off from the network, until \S+Z at/);
    expect(others).toEqual([]);
    await stack.toDefaults();
    expect((await eventsOn(pod)).map(({ reason }) => reason).sort()).toEqual(["ChaosAttackBegan", "ChaosAttackEnded"]);
    expect(await stack.traces()).toEqual([]);
});
