import { describe, expect, it } from "vitest";
import { notedChange, noting } from "../../../../chaos/actions/noted";
import type { KubeObject } from "../../../../chaos/cluster/resources";

interface Scalable extends KubeObject {
    spec: Record<string, unknown>;
}
const restoring = (object: KubeObject) => notedChange.next(object);
const scaling = (object: KubeObject, replicas: number) => noting(object, { replicas });

/** A Deployment after a merge patch, as the API server applies it. */
function patched({ metadata, spec }: Scalable, patch: any): Scalable {
    const annotations = Object.entries({ ...metadata?.annotations, ...patch.metadata.annotations }).filter(
        ([, value]) => value !== null,
    ) as [string, string][];
    return {
        metadata: { ...metadata, annotations: Object.fromEntries(annotations) },
        spec: { ...spec, ...patch.spec },
    };
}
const deployment: Scalable = {
    metadata: { resourceVersion: "7", annotations: { other: "stays" } },
    spec: { replicas: 1 },
};
const scaled = (replicas: number, of = deployment) => patched(of, scaling(of, replicas));

describe("a Deployment that an experiment has scaled", () => {
    it("gets back its number of replicas, and no trace stays", () => {
        expect(scaled(3).spec).toEqual({ replicas: 3 });
        expect(patched(scaled(3), restoring(scaled(3)))).toEqual(deployment);
    });

    it("gets back the number that it had before the first of several changes", () => {
        const twice = scaled(5, scaled(3));
        expect(twice.spec).toEqual({ replicas: 5 });
        expect(patched(twice, restoring(twice))).toEqual(deployment);
    });

    it("keeps a number that something else has set since", () => {
        const crossed = { ...scaled(3), spec: { replicas: 4 } };
        expect(patched(crossed, restoring(crossed))).toEqual({ ...deployment, spec: { replicas: 4 } });
    });

    it("goes back to no replicas if it had none", () => {
        const none = { ...deployment, spec: { replicas: 0 } };
        expect(patched(scaled(2, none), restoring(scaled(2, none)))).toEqual(none);
    });

    it("is patched only at the version that was read", () => {
        for (const patch of [scaling(deployment, 3), restoring(scaled(3))])
            expect(patch).toMatchObject({ metadata: { resourceVersion: "7" } });
    });
});

it("a Deployment that no experiment has scaled is left alone", () => expect(restoring(deployment)).toBeUndefined());

describe("several fields that actions have set", () => {
    const of = (spec: object): KubeObject => ({ metadata: { resourceVersion: "7" }, spec });
    const after = (
        object: KubeObject,
        spec: Record<string, unknown>,
        patch: any = noting(object, spec),
    ): KubeObject => ({
        metadata: { ...object.metadata, annotations: patch.metadata.annotations },
        spec: { ...object.spec, ...patch.spec },
    });

    it("are restored each, also what was not there, and but for those that somebody else has set since", () => {
        const first = after(of({ suspend: false, paused: true, limits: { cpu: 1 } }), { suspend: true, deadline: 5 });
        const second = after(first, { paused: false });
        const crossed = { ...second, spec: { ...second.spec, paused: "by somebody" } };
        expect(restoring(crossed)).toMatchObject({ spec: { suspend: false, deadline: null } });
        expect(restoring(crossed)).not.toHaveProperty(["spec", "paused"]);
    });

    it("are restored within an object, which keeps the rest", () => {
        const set = noting(of({ strategy: { type: "A", other: 1 } }), { strategy: { type: "B" } });
        expect(set).toMatchObject({ spec: { strategy: { type: "B" } } });
        const there = { ...set, spec: { strategy: { type: "B", other: 2 } } } as KubeObject;
        expect(restoring(there)).toMatchObject({ spec: { strategy: { type: "A" } } });
    });

    it.each(["", "{", "null", '{"before":1}', '{"set":{"replicas":3}}'])("stay if the note is %s", (note) => {
        const annotations = { "chaos-experiments/changed": note };
        const { metadata, spec } = restoring({ metadata: { annotations }, spec: { replicas: 3 } }) as KubeObject;
        expect([metadata!.annotations, spec]).toEqual([{ "chaos-experiments/changed": null }, undefined]);
    });
});
