import { beforeEach, describe, expect, it } from "vitest";
import { explainFail, stopContainers } from "../../../../../../chaos/kinds/attacks/fail/stop-containers";
import { readUnrunnable } from "../../../../../../chaos/kinds/attacks/fail/image";
import type { Victim } from "../../../../../../chaos/kinds/attacks/fail/victim";
import type { RunAttack } from "../../../../../../chaos/kinds/attacks/attack-kind";
import { FakeCluster } from "../../../support/fake-cluster";

let cluster: FakeCluster;
let attack: RunAttack<unknown, unknown, Victim[]>;
beforeEach(() => {
    cluster = new FakeCluster();
    const victims = ["web-1", "web-2"].flatMap((pod) =>
        ["web", "side"].map((container): Victim => {
            return { pod, uid: pod, container, image: `shop/${container}:1`, restarts: 0, endpoints: [] };
        }),
    );
    for (const pod of ["web-1", "web-2", "web-3"])
        cluster.add("Pod", pod, {
            metadata: { uid: pod, labels: { "chaos-experiments/target": "x.fail" } },
            spec: { containers: ["web", "side"].map((name) => ({ name, image: `shop/${name}:1` })) },
            status: { containerStatuses: ["web", "side"].map((name) => ({ name, state: { running: {} } })) },
        });
    attack = { run: "x-1", namespace: "demo", label: "x.fail", chosen: { tried: victims } } as never;
});

const images = (pod: string): string[] =>
    cluster.get("Pod", pod).spec.containers.map(({ image }: { image: string }) => image);
const begin = () => stopContainers(attack, cluster.api);
const why = () => explainFail(attack, cluster.api);

it("stops the containers that were tried, and no others", async () => {
    await begin();
    for (const pod of ["web-1", "web-2"])
        expect(images(pod).map((image) => readUnrunnable(image)?.run)).toEqual(["x-1", "x-1"]);
    expect(images("web-3")).toEqual(["shop/web:1", "shop/side:1"]);
});

it("says that a target is gone", async () => {
    cluster.remove("Pod", "web-2");
    await expect(begin()).rejects.toMatchObject({ reason: { code: "target-changed" } });
});

it("says that a target may not be changed, in the words of who refuses it", async () => {
    cluster.refuses("patch Pod", 403, "admission webhook denied the request: frozen");
    const message = expect.stringMatching(/^the containers of web-\d may not be stopped: .*frozen/) as string;
    await expect(begin()).rejects.toMatchObject({ reason: { code: "attack-refused", message } });
});

describe("why a container runs", () => {
    const status = (container: number, state: object) =>
        (cluster.get("Pod", "web-1").status.containerStatuses[container].state = state);
    const stopped = () =>
        ["web-1", "web-2"].forEach((pod) => {
            for (const one of cluster.get("Pod", pod).status.containerStatuses) one.state = { waiting: {} };
        });
    beforeEach(begin);

    it("is not known while none does", async () => {
        stopped();
        expect(await why()).toBeUndefined();
    });

    it("is that it has not ended yet, with its grace period", async () => {
        stopped();
        status(1, { running: {} });
        cluster.get("Pod", "web-1").spec.terminationGracePeriodSeconds = 90;
        expect(await why()).toEqual({
            code: "attack-not-proven",
            message: "the container web-1/side was told to end, and still runs; its pod's grace period is 90 s",
        });
    });

    it("is that somebody has given it another image, and who", async () => {
        stopped();
        const pod = cluster.get("Pod", "web-1");
        pod.spec.containers[0].image = "shop/web:2";
        pod.metadata.managedFields = [
            { manager: "kubectl-set", fieldsV1: { "f:spec": { "f:containers": {} } }, time: "2026-11-21T10:00:00Z" },
        ];
        expect(await why()).toEqual({
            code: "target-changed",
            message: "somebody (kubectl-set) has given the container web-1/web the image “shop/web:2”",
        });
    });

    it("is not known if it has the image from before: the end of the run restores that, too", async () => {
        cluster.get("Pod", "web-1").spec.containers[0].image = "shop/web:1";
        stopped();
        expect(await why()).toBeUndefined();
    });

    it("is not known of a pod that is gone: that is another reason", async () => {
        stopped();
        cluster.remove("Pod", "web-1");
        expect(await why()).toBeUndefined();
    });
});
