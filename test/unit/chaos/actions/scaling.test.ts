import { describe, expect, it } from "vitest";
import { restoring, type Scalable, scaling } from "../../../../chaos/actions/scaling";

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
