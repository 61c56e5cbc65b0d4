import { beforeEach, describe, expect, it } from "vitest";
import { scale } from "../../../../../chaos/kinds/actions/scale";
import { settable } from "../../../../../chaos/cluster/set-field";
import { setUntilUndone } from "../../../../../chaos/cluster/set-field";
import { restoring } from "../../../../../chaos/cluster/lend";
import { resources } from "../../../../../chaos/cluster/resources";
import { endAttacks } from "../../../../../chaos/ending/end";
import { attacksLeftOf } from "../../../../../chaos/ending/left";
import { FakeCluster, refuse } from "../../support/fake-cluster";

const owning = (manager: string, fields: object, more: object = {}) => ({
    manager,
    operation: "Update",
    apiVersion: "apps/v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:spec": fields },
    ...more,
});
const applier = owning("kubectl", { "f:replicas": {}, "f:template": {} }, { operation: "Apply" });
const withoutReplicas = owning("kubectl", { "f:template": {} }, { operation: "Apply" });
const ours = owning("chaos-experiments", { "f:replicas": {} });
const autoscaler = owning("k3s", { "f:replicas": {} }, { subresource: "scale" });
const status = { manager: "k3s", operation: "Update", subresource: "status", fieldsV1: { "f:status": {} } };
const person = owning("kubectl", { "f:replicas": {} }, { subresource: "scale" });

let cluster: FakeCluster;
const web = () => cluster.get("Deployment", "web");
const numberAndTraces = () => [web().spec.replicas, web().metadata.labels, web().metadata.annotations];

beforeEach(() => {
    cluster = new FakeCluster();
    const metadata = { labels: { app: "web" }, annotations: { other: "stays" }, managedFields: [applier, status] };
    cluster.add("Deployment", "web", { metadata, spec: { replicas: 1 } });
    // As the API server does: who changes a field owns it alone.
    cluster.changed = (kind, before, after, body) => {
        if (kind !== "Deployment" || before.spec.replicas === after.spec.replicas) return;
        expect(body.metadata.managedFields).toBeUndefined();
        after.metadata.managedFields = [withoutReplicas, status, ours] as never;
    };
});

const scaled = (replicas: number, run = "x-1") => {
    const context = { cluster: cluster.api, namespace: "demo", run, endsAt: Infinity };
    return scale.perform!({ kind: "scale", deployment: "web", replicas }, context);
};
const said: string[] = [];
async function undone(): Promise<void> {
    said.length = 0;
    await endAttacks(cluster.api, attacksLeftOf({ namespace: "demo", experiment: "any" }), (text) => said.push(text));
}
/** What somebody else does meanwhile. */
function setBy(manager: object, replicas: number): void {
    web().spec.replicas = replicas;
    web().metadata.managedFields = [withoutReplicas, status, manager] as never;
}
const before = [1, { app: "web" }, { other: "stays" }];

describe("a Deployment that a run has scaled", () => {
    it("gets back its number of replicas, and no trace stays", async () => {
        await scaled(3);
        expect(web().spec.replicas).toBe(3);
        await undone();
        expect(numberAndTraces()).toEqual(before);
        expect(said).toEqual([]);
    });

    it("belongs to whom it belonged, during the run and afterwards: their next apply has no conflict", async () => {
        await scaled(3);
        expect(web().metadata.managedFields).toEqual([applier, status]);
        await undone();
        expect(web().metadata.managedFields).toEqual([applier, status]);
    });

    it("is the run's until then if nobody had set the number: else no change by others would be recorded", async () => {
        web().metadata.managedFields = [withoutReplicas, status] as never;
        await scaled(3);
        expect(web().metadata.managedFields).toEqual([withoutReplicas, status, ours]);
        await undone();
        expect(web().metadata.managedFields).toEqual([withoutReplicas, status]);
        expect(numberAndTraces()).toEqual(before);
    });

    it("is changed and restored though its status changes again and again meanwhile", async () => {
        let patches = 0;
        cluster.intercept = (call) => {
            if (call === "patch Deployment" && ++patches % 8 > 1) refuse(409, "the status has changed");
        };
        await scaled(3);
        expect([web().spec.replicas, web().metadata.managedFields]).toEqual([3, [applier, status]]);
        await undone();
        expect(numberAndTraces()).toEqual(before);
    });

    it("is nobody's if a killed update has lost whose it was: nobody's apply has a conflict", async () => {
        let patches = 0;
        cluster.intercept = (call) => {
            if (call === "patch Deployment" && ++patches === 2) refuse(500, "killed");
        };
        await expect(scaled(3)).rejects.toThrow();
        await undone();
        expect(numberAndTraces()).toEqual(before);
        expect(web().metadata.managedFields).toEqual([withoutReplicas, status]);
    });

    it("has no annotation of the run: Kubernetes would copy it, and `rollout undo` bring it back", async () => {
        await scaled(3);
        expect(web().metadata.annotations).toEqual({ other: "stays" });
    });

    it("gets back the number that it had before the first of several changes", async () => {
        await scaled(3);
        await scaled(5);
        expect(web().spec.replicas).toBe(5);
        await undone();
        expect(numberAndTraces()).toEqual(before);
    });

    it("goes back to no replicas if it had none", async () => {
        web().spec.replicas = 0;
        await scaled(2);
        await undone();
        expect(web().spec.replicas).toBe(0);
    });

    it("is restored only at the version that was read", async () => {
        await scaled(3);
        expect(restoring(settable("replicas"), web())).toMatchObject({
            metadata: { resourceVersion: web().metadata.resourceVersion },
        });
    });
});

describe("a field that is no number of replicas", () => {
    const set = (field: string, value: number | boolean) => {
        const context = { cluster: cluster.api, namespace: "demo", run: "x-1" };
        return setUntilUndone(context, { resource: resources.deployment, name: "web" }, field, value);
    };

    it.each([
        [-1, 2],
        [2, -1],
        [0.5, 1.25],
        [1e-7, 3],
        [undefined, -3],
        [false, true],
    ])("that was %j and is set to %j is as before", async (earlier, value) => {
        web().spec.priority = earlier;
        await set("priority", value);
        const { labels = {} } = web().metadata;
        expect(web().spec.priority).toBe(value);
        for (const label of Object.values(labels)) expect(label).toMatch(/^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/);
        await undone();
        expect(web().spec.priority).toBe(earlier);
        expect(web().metadata.labels).toEqual({ app: "web" });
    });

    it("is not set if its value cannot be noted: it could not be restored", async () => {
        web().spec.priority = "Auto";
        await expect(set("priority", 1)).rejects.toThrow(
            'priority cannot be set from "Auto" to 1 and restored; allowed: numbers, true, false and no value before',
        );
        expect([web().spec.priority, web().metadata.labels]).toEqual(["Auto", { app: "web" }]);
    });

    it("is restored in one pass with another one of the same object", async () => {
        web().spec.paused = false;
        await scaled(3);
        await set("paused", true);
        await set("priority", 2);
        await undone();
        expect(numberAndTraces()).toEqual(before);
        expect(web().spec).toEqual({ replicas: 1, paused: false });
    });
});

describe("a number that somebody else has set since", () => {
    it("stays if a person or a tool has set it, and it is said whose it is", async () => {
        await scaled(5);
        setBy(person, 4);
        await undone();
        expect(numberAndTraces()).toEqual([4, ...before.slice(1)]);
        expect(web().metadata.managedFields).toEqual([withoutReplicas, status, person]);
        expect(said).toEqual(["Deployment web keeps 4 replicas, set by kubectl; before the run it had 1"]);
    });

    it("does not stay if an autoscaler has only limited the run's number", async () => {
        await scaled(5);
        setBy(autoscaler, 3);
        await undone();
        expect(numberAndTraces()).toEqual(before);
        expect(web().metadata.managedFields).toEqual([withoutReplicas, status]);
        expect(said).toEqual([]);
    });

    it("stays if an autoscaler wants more than the run had set", async () => {
        await scaled(5);
        setBy(autoscaler, 8);
        await undone();
        expect(numberAndTraces()).toEqual([8, ...before.slice(1)]);
        expect(said[0]).toContain("keeps 8 replicas, set by k3s for an autoscaler");
    });

    it("is the number before, of a run that scales it after that", async () => {
        await scaled(5);
        setBy(person, 4);
        await scaled(6, "x-2");
        await undone();
        expect(web().spec.replicas).toBe(4);
    });
});

describe("nothing is scaled back that no run has scaled:", () => {
    it("a Deployment with the note of another one, whose manifest somebody has copied; the note goes", async () => {
        await scaled(3);
        const copied = { labels: { ...web().metadata.labels } };
        cluster.add("Deployment", "copy", { metadata: copied, spec: { replicas: 3 } });
        await undone();
        const { spec, metadata } = cluster.get("Deployment", "copy");
        expect([spec.replicas, metadata.labels]).toEqual([3, { app: "web" }]);
    });

    it.each(["", "1", "1-3", "a-3-web", "1-3-other"])("one whose note is %s", async (note) => {
        web().metadata.labels!["chaos-experiments/set.replicas"] = note;
        web().spec.replicas = 3;
        await undone();
        expect(numberAndTraces()).toEqual([3, ...before.slice(1)]);
    });

    it("one with an annotation that `kubectl rollout undo` has brought back", async () => {
        const note = JSON.stringify({ before: { replicas: 1 }, set: { replicas: 3 } });
        web().metadata.annotations!["chaos-experiments/changed"] = note;
        web().spec.replicas = 3;
        await undone();
        expect(web().spec.replicas).toBe(3);
    });
});

describe("whether a Deployment is still as it was scaled", () => {
    const action = { kind: "scale", deployment: "web", replicas: 5 } as const;
    const why = () => scale.whyNotKept!(action, { cluster: cluster.api, namespace: "demo" });

    it("is so until somebody changes it, who is named if that is known", async () => {
        await scaled(5);
        expect(await why()).toBeUndefined();
        setBy(autoscaler, 3);
        expect(await why()).toBe("Deployment web has 3 replicas, set by k3s for an autoscaler");
        web().metadata.managedFields = [];
        expect(await why()).toBe("Deployment web has 3 replicas");
    });

    it("is so when a later action of the run has scaled it to another number", async () => {
        await scaled(5);
        await scaled(7);
        expect(await why()).toBeUndefined();
    });

    it("is not so if it was replaced or deleted", async () => {
        await scaled(5);
        cluster.add("Deployment", "web", { spec: { replicas: 1 } });
        expect(await why()).toBe("Deployment web has 1 replica");
        cluster.remove("Deployment", "web");
        expect(await why()).toBe("there is no Deployment web in namespace demo");
    });
});
