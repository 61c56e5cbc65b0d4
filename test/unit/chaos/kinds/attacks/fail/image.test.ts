import { beforeEach, describe, expect, it } from "vitest";
import { lend, restore } from "../../../../../../chaos/cluster/lend";
import { resources } from "../../../../../../chaos/cluster/resources";
import {
    imagesOf,
    readUnrunnable,
    stoppedContainers,
    stopping,
    unrunnable,
} from "../../../../../../chaos/kinds/attacks/fail/image";
import type { V1Pod } from "../../../../../../chaos/values/kubernetes-types";
import { FakeCluster } from "../../../support/fake-cluster";

const target = { "chaos-experiments/target": "x.fail" };
const web = { name: "web", image: "shop/web:1", env: [{ name: "A", value: "b" }] };
const side = { name: "side", image: "side@sha256:0123" };
const owned = { "f:spec": { "f:containers": { 'k:{"name":"web"}': { "f:image": {} } } } };
const controllers = { manager: "kube-controller-manager", operation: "Update", fieldsV1: owned };
const ours = { manager: "chaos-experiments", operation: "Update", fieldsV1: owned };

let cluster: FakeCluster;
beforeEach(() => {
    cluster = new FakeCluster();
    cluster.add("Pod", "web-1", {
        metadata: { uid: "u", labels: target, managedFields: [controllers] },
        spec: { containers: [web, side] },
    });
    // The API server takes a changed image for the one's who has changed it.
    cluster.changed = (_, before, after, body: { spec?: object }) => {
        if (body.spec) after.metadata.managedFields = [...(before.metadata.managedFields ?? []), ours];
    };
});

const object = { resource: resources.pod, namespace: "demo", name: "web-1" };
const pod = () => cluster.get("Pod", "web-1") as V1Pod;
const stop = (containers: string[], run = "x-1") =>
    lend(cluster.api, object, stoppedContainers, stopping(run, { uid: "u", label: "x.fail", containers }));
/** As the end of a run does it, which restores only what is noted as that run's. */
const start = () =>
    restore(cluster.api, object, stoppedContainers, (one) => stoppedContainers.notes.read(one)?.run !== undefined);
const managers = () => pod().metadata!.managedFields!.map(({ manager }) => manager);

describe("an image that cannot be run", () => {
    it.each(["web", "shop/web:1", "registry.example:5000/a/b@sha256:0123", "an image with spaces"])(
        "says the run, and what it was: %s",
        (image) => expect(readUnrunnable(unrunnable("x-1", image))).toEqual({ run: "x-1", before: image }),
    );

    it("is no reference to one, whatever it was: the kubelet asks no registry for it", () => {
        // https://github.com/distribution/reference: no part of one has a space.
        expect(unrunnable("x-1", "web")).toMatch(/^\S+ x-1 web$/);
        expect(readUnrunnable("docker.io/library/web:1")).toBeUndefined();
    });
});

describe("a container that is stopped", () => {
    it("has such an image, and nothing else of its pod is changed", async () => {
        await stop(["web"]);
        expect(pod().spec!.containers).toEqual([{ ...web, image: unrunnable("x-1", web.image) }, side]);
        expect(managers()).toEqual(["kube-controller-manager"]);
    });

    it("gets its image back, and its field its owners", async () => {
        await stop(["web", "side"]);
        await start();
        expect(pod().spec!.containers).toEqual([web, side]);
        expect([managers(), pod().metadata!.annotations]).toEqual([["kube-controller-manager"], {}]);
    });

    it.each<[string, () => void]>([
        ["lost its label", () => (pod().metadata!.labels = {})],
        ["lost the note", () => (pod().metadata!.annotations = {})],
        ["another note", () => (pod().metadata!.annotations = { "chaos-experiments/stopped": '{"run":"y-1"}' })],
        ["a note that nobody can read", () => (pod().metadata!.annotations = { "chaos-experiments/stopped": "{" })],
    ])("gets it back though the pod has %s", async (_, change) => {
        await stop(["web", "side"]);
        change();
        expect(stoppedContainers.notes.read(pod())).toEqual({ run: "x-1" });
        await start();
        expect(imagesOf(pod())).toEqual({ web: web.image, side: side.image });
        expect([managers(), pod().metadata!.annotations]).toEqual([["kube-controller-manager"], {}]);
    });

    it("keeps the image that somebody has given it since; another one gets its own back", async () => {
        await stop(["web", "side"]);
        pod().spec!.containers[0]!.image = "shop/web:2";
        await start();
        expect(imagesOf(pod())).toEqual({ web: "shop/web:2", side: side.image });
    });

    it("was stopped by another run before: the image from before that comes back", async () => {
        await stop(["web"], "x-0");
        await stop(["web"]);
        await start();
        expect(imagesOf(pod()).web).toBe(web.image);
    });
});

describe("no container is stopped", () => {
    it.each<[string, () => void, string]>([
        ["once its pod has lost its label", () => (pod().metadata!.labels = {}), "run-over"],
        ["of another pod of that name", () => (pod().metadata!.uid = "another"), "target-changed"],
    ])("%s", async (_, change, code) => {
        change();
        await expect(stop(["web"])).rejects.toMatchObject({ reason: { code } });
        expect(imagesOf(pod()).web).toBe(web.image);
    });

    it("if the label goes while the pod is changed: the patch names the version that was read", async () => {
        let isFirst = true;
        cluster.intercept = (call) => {
            if (call !== "patch Pod" || !isFirst) return;
            isFirst = false;
            Object.assign(pod().metadata!, { labels: {}, resourceVersion: "changed" });
        };
        await expect(stop(["web"])).rejects.toMatchObject({ reason: { code: "run-over" } });
        expect(imagesOf(pod()).web).toBe(web.image);
    });
});
