import { beforeEach, describe, expect, it } from "vitest";
import type { RunAttack } from "../../../../../../chaos/kinds/attacks/attack-kind";
import { tryFail } from "../../../../../../chaos/kinds/attacks/fail/try-out";
import type { Target } from "../../../../../../chaos/targets/containers";
import { FakeCluster, refuse, type StoredObject } from "../../../support/fake-cluster";

const minute = 60_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const container = (name: string, port?: number) => ({
    name,
    image: `shop/${name}:1`,
    ...(port && { ports: [{ containerPort: port }] }),
});

let cluster: FakeCluster;
let pod: StoredObject;
beforeEach(() => {
    cluster = new FakeCluster();
    pod = cluster.add("Pod", "web-1", {
        metadata: { uid: "u" },
        spec: { containers: [container("web", 8080), container("side", 9090)] },
        status: {
            containerStatuses: ["web", "side"].map((name) => ({
                name,
                restartCount: 3,
                state: { running: { startedAt: ago(60 * minute) } },
            })),
        },
    });
});

const target = (name: string, ports = [8080, 9090, 7070]): Target =>
    ({ pod: "web-1", uid: "u", namespace: "demo", container: name, address: "10.0.0.1", ports }) as unknown as Target;
const tried = (...targets: Target[]) =>
    tryFail({ run: "x-1", label: "x.fail", chosen: { targets } } as unknown as RunAttack<unknown>, cluster.api);
/** The container's status: it was restarted so often, the last time so long ago; before that it ran so long. */
function restarted(restartCount: number, running: number, ranBefore: number): void {
    const terminated = { startedAt: ago(running + ranBefore), finishedAt: ago(running) };
    const state = { running: { startedAt: ago(running) } };
    pod.status.containerStatuses = [{ name: "web", restartCount, state, lastState: { terminated } }];
}

describe("of each container, the run finds", () => {
    it("its image, and how often it was restarted", async () => {
        expect(await tried(target("web"))).toMatchObject([
            { pod: "web-1", uid: "u", container: "web", image: "shop/web:1", restarts: 3 },
        ]);
    });

    it.each<[string, string[], string[]]>([
        ["all ports, if all containers of its pod are stopped", ["web", "side"], ["8080", "9090", "7070"]],
        ["the ports that it declares, if another goes on", ["web"], ["8080"]],
    ])("where it alone accepts connections: %s", async (_, names, ports) => {
        const found = (await tried(...names.map((name) => target(name)))).flatMap(({ endpoints }) => endpoints);
        expect([...new Set(found)]).toEqual(ports.map((port) => `10.0.0.1:${port}`));
    });

    it("no port that a native sidecar declares, too", async () => {
        pod.spec.initContainers = [{ ...container("mesh", 7070), restartPolicy: "Always" }, container("setup", 9090)];
        const [found] = await tried(target("web"), target("side"));
        expect(found!.endpoints).toEqual(["10.0.0.1:8080", "10.0.0.1:9090"]);
    });

    it("each address of a pod with several", async () => {
        const both = { ...target("web", [8080]), addresses: ["10.0.0.1", "fd00::1"] };
        expect(await tried(both)).toMatchObject([{ endpoints: ["10.0.0.1:8080", "[fd00::1]:8080"] }]);
    });
});

describe("refuses before anybody is touched", () => {
    const refusal = (message: RegExp) => ({
        reason: { code: "attack-refused", message: expect.stringMatching(message) as string },
    });

    it.each<[string, () => void, RegExp]>([
        [
            "a static pod",
            () => (pod.metadata.ownerReferences = [{ kind: "Node", name: "n", uid: "n", apiVersion: "v1" }]),
            /^web-1 is a static pod, which only its node can change$/,
        ],
        [
            "a pod that would end, as of a Job",
            () => (pod.spec.restartPolicy = "OnFailure"),
            /^web-1 would end: its container web has restartPolicy OnFailure, and would not start again$/,
        ],
        [
            "a container that would end",
            () => (pod.spec.containers[0].restartPolicy = "Never"),
            /its container web has restartPolicy Never/,
        ],
        [
            "a container that the kubelet would start late",
            () => restarted(5, minute, minute),
            new RegExp(
                "^web-1 would come back late: its container web was restarted 5 times, last 1 min ago, " +
                    "and the kubelet may wait up to 2 min 40 s",
            ),
        ],
        [
            "one that does not run anyway",
            () => {
                restarted(40, minute, minute);
                pod.status.containerStatuses[0].state = { waiting: { reason: "CrashLoopBackOff" } };
            },
            /^web-1 cannot be stopped: its container web does not run$/,
        ],
        ["one that crashes all the time", () => restarted(40, minute, minute), /may wait up to 5 min/],
    ])("%s", async (_, change, message) => {
        change();
        await expect(tried(target("web"))).rejects.toMatchObject(refusal(message));
        expect(cluster.calls).not.toContain("patch Pod");
    });

    it.each<[string, () => void]>([
        ["was restarted a few times", () => restarted(4, minute, minute)],
        ["was restarted often, and runs for long", () => restarted(40, 11 * minute, minute)],
        ["was restarted often, and ran for long before the last time", () => restarted(40, minute, 11 * minute)],
    ])("no container that %s: what the kubelet waits is over by then, or forgotten", async (_, change) => {
        change();
        expect(await tried(target("web"))).toHaveLength(1);
    });

    it("one whose image may not be changed, in the words of who refuses it", async () => {
        cluster.refuses("patch Pod", 403, "admission webhook denied the request: unknown registry");
        await expect(tried(target("web"))).rejects.toMatchObject(
            refusal(/^the containers of web-1 may not be stopped: .*unknown registry/),
        );
    });

    it("none because a webhook takes no dry runs: it says nothing of the change", async () => {
        cluster.refuses("patch Pod", 400, 'admission webhook "x" does not support dry run');
        expect(await tried(target("web"))).toHaveLength(1);
    });

    it("one whose image something else sets", async () => {
        cluster.changed = (_, __, after) => (after.spec.containers[0].image = "mirror.example/web");
        await expect(tried(target("web"))).rejects.toMatchObject(
            refusal(/something sets the image of its container web to “mirror.example\/web”/),
        );
    });

    it("a pod that is gone, or another by now", async () => {
        pod.metadata.uid = "another";
        await expect(tried(target("web"))).rejects.toMatchObject({ reason: { code: "target-changed" } });
    });
});

it("only tries: the pod is as it was, and an API server that does not answer is no refusal", async () => {
    await tried(target("web"), target("side"));
    expect(cluster.get("Pod", "web-1").spec.containers.map(({ image }: { image: string }) => image)).toEqual([
        "shop/web:1",
        "shop/side:1",
    ]);
    cluster.intercept = (call) => void (call === "patch Pod" && refuse(500, "etcd is slow"));
    await expect(tried(target("web"))).rejects.toMatchObject({ code: 500 });
});
