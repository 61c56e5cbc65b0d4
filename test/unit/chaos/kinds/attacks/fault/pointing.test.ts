import type { V1ManagedFieldsEntry, V1Service } from "../../../../../../chaos/values/kubernetes-types";
import { describe, expect, it } from "vitest";
import {
    isPointing,
    pointedService,
    pointing,
    selectsNobody,
    witnessNameOf,
} from "../../../../../../chaos/kinds/attacks/fault/pointing";
import { lending, restoring } from "../../../../../../chaos/cluster/lend";

const run = "slow-1234";
const proxy = "slow-1234-fault";
const selector = { app: "hot-deals", tier: "back" };
const owned = (manager: string): V1ManagedFieldsEntry => ({
    manager,
    operation: "Apply",
    apiVersion: "v1",
    fieldsV1: { "f:spec": { "f:selector": {}, "f:ports": {} } },
});

const theirs: V1Service = {
    metadata: { name: "hot-deals", resourceVersion: "7", managedFields: [owned("pulumi")] },
    spec: { selector },
};

interface Patch {
    metadata: { annotations?: Record<string, string | null>; managedFields?: V1ManagedFieldsEntry[] };
    spec?: { selector: Record<string, string | null> };
}

/** As the API server does it: whoever sets a field owns it. */
function patched(service: V1Service, body: object, manager = "chaos-experiments"): V1Service {
    const { metadata = {}, spec } = body as Patch;
    const merged = (before: Record<string, string> = {}, after: Record<string, string | null> = {}) =>
        Object.fromEntries(
            Object.entries({ ...before, ...after }).filter((entry): entry is [string, string] => entry[1] !== null),
        );
    const before = service.metadata!.managedFields!;
    const others = before.filter((entry) => entry.manager !== manager);
    const ownersAfter = [
        ...others.map((entry) => ({ ...entry, fieldsV1: { "f:spec": { "f:ports": {} } } })),
        { ...owned(manager), operation: "Update", fieldsV1: { "f:spec": { "f:selector": {} } } },
    ];
    return {
        metadata: {
            ...service.metadata,
            annotations: merged(service.metadata!.annotations, metadata.annotations),
            managedFields: metadata.managedFields ?? (spec ? ownersAfter : before),
        },
        spec: { ...service.spec, ...(spec && { selector: merged(service.spec!.selector, spec.selector) }) },
    };
}

function patchedUntilDone(service: V1Service, next: (current: V1Service) => object | undefined): V1Service {
    const body = next(service);
    return body === undefined ? service : patchedUntilDone(patched(service, body), next);
}

const to = { proxy, run, selector: selector as Record<string, string> };
const nextPointing = (service: V1Service, of: typeof to) =>
    lending(pointedService, pointing(of.run, of.proxy, of.selector), service);
const pointed = patchedUntilDone(theirs, (current) => nextPointing(current, to));
const restored = (service: V1Service, kept?: Record<string, string>) =>
    patchedUntilDone(service, (current) =>
        restoring(pointedService, current, { kept: kept && { spec: { selector: kept } } }),
    );

describe("a Service whose place a proxy takes", () => {
    it("selects the proxy and nothing else", () => {
        expect(pointed.spec!.selector).toEqual({ "chaos-experiments/proxy": proxy });
        expect(isPointing(pointed)).toBe(true);
    });

    it("still belongs to whom it belonged: their next apply has no conflict", () =>
        expect(pointed.metadata!.managedFields).toEqual(theirs.metadata!.managedFields));

    it("belongs to nobody new if the run is killed before it has given it back", () => {
        const half = patched(theirs, nextPointing(theirs, to)!);
        expect(restored(half).metadata!.managedFields).toEqual(theirs.metadata!.managedFields);
    });

    it("points to the proxy also if somebody removes the note: the proxy's own Service keeps the selector", () => {
        const unnoted = patched(patched(theirs, nextPointing(theirs, to)!), {
            metadata: { annotations: { "chaos-experiments/pointing": null } },
        });
        expect(lending(pointedService, pointing(run, proxy, to.selector), unnoted, theirs)).toBeUndefined();
    });

    it("must be as it was when the targets were chosen", () => {
        const changed = { ...theirs, spec: { selector: { app: "another" } } };
        expect(() => nextPointing(changed, to)).toThrow(
            "somebody has changed the selector of Service hot-deals since the targets were chosen",
        );
    });

    it("is not another run's", () => {
        expect(() => nextPointing(pointed, { proxy: "other-5678-fault", run: "other-5678", selector })).toThrow(
            "somebody has changed the selector",
        );
    });
});

describe("a Service that is restored", () => {
    it("selects what it selected, belongs to whom it belonged, and has no trace", () => {
        const { metadata, spec } = restored(pointed);
        expect(spec!.selector).toEqual(selector);
        expect(metadata!.managedFields).toEqual(theirs.metadata!.managedFields);
        expect(metadata!.annotations).toEqual({});
        expect(isPointing({ metadata, spec })).toBe(false);
    });

    it("keeps what somebody else has set meanwhile, and that it is theirs", () => {
        const theirSelector = { "chaos-experiments/proxy": null, app: "new" };
        const changed = patched(pointed, { spec: { selector: theirSelector } }, "their-tool");
        const { metadata, spec } = restored(changed);
        expect(spec!.selector).toEqual({ app: "new" });
        expect(metadata!.annotations).toEqual({});
        expect(metadata!.managedFields!.map(({ manager }) => manager)).toContain("their-tool");
    });

    it.each<[string, Record<string, string>]>([
        ["an apply of what it was", selector],
        ["an apply of something else", { app: "hot-deals", tier: "front" }],
    ])("selects what %s has merged into the proxy's labels, which selected nobody", (_, theirSelector) => {
        const merged = patched(pointed, { spec: { selector: theirSelector } }, "kubectl-client-side-apply");
        expect(selectsNobody(merged)).toBe(true);
        expect(selectsNobody(pointed)).toBe(false);
        const { metadata, spec } = restored(merged);
        expect(spec!.selector).toEqual(theirSelector);
        expect(isPointing({ metadata, spec })).toBe(false);
    });

    it("keeps what a partial patch has set, and has the rest back", () => {
        const merged = patched(pointed, { spec: { selector: { tier: "front" } } }, "kubectl-patch");
        expect(restored(merged).spec!.selector).toEqual({ app: "hot-deals", tier: "front" });
        const more = patched(pointed, { spec: { selector: { version: "v2" } } }, "kubectl-patch");
        expect(restored(more).spec!.selector).toEqual({ ...selector, version: "v2" });
        expect(isPointing(restored(more))).toBe(false);
    });

    describe("that kubectl had applied", () => {
        const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
        const applied = (of: object) => ({ [lastApplied]: JSON.stringify({ spec: { selector: of } }) });
        const before = (of: Record<string, string>, live = of): V1Service => ({
            metadata: { ...theirs.metadata, annotations: applied(of) },
            spec: { selector: live },
        });
        /** Points a Service, applies a manifest by what kubectl would send, and restores. */
        function after(service: V1Service, manifest: Record<string, string>, more: Record<string, string> = {}) {
            const wanted = { ...to, selector: service.spec!.selector! };
            const taken = patchedUntilDone(service, (current) => nextPointing(current, wanted));
            const sent = { metadata: { annotations: applied(manifest) }, spec: { selector: manifest } };
            const merged = patched(taken, sent, "kubectl-client-side-apply");
            return restored(patched(merged, { spec: { selector: more } }, "their-tool")).spec!.selector;
        }

        it("loses the labels that the manifest no longer has", () => {
            expect(after(before(selector), { app: "hot-deals" })).toEqual({ app: "hot-deals" });
            expect(after(before(selector), { app: "new" }, { version: "v2" })).toEqual({ app: "new", version: "v2" });
        });

        it("keeps a label that the manifest never had", () =>
            expect(after(before({ app: "web" }, { app: "web", color: "blue" }), { app: "web" })).toEqual({
                app: "web",
                color: "blue",
            }));
    });

    const withNote = (annotations: Record<string, string>) => ({
        ...pointed,
        metadata: { ...pointed.metadata, annotations },
    });
    const note = { run, selector: { "chaos-experiments/proxy": proxy }, owners: [] };

    it.each<[string, Record<string, string>]>([
        [
            "somebody has written the proxy's label into its note",
            { "chaos-experiments/pointing": JSON.stringify(note) },
        ],
        ["its note is lost", {}],
        ["its note is broken", { "chaos-experiments/pointing": "{" }],
    ])("is so, once, if %s: the proxy's own Service keeps the selector", (_, annotations) => {
        const after = restored(withNote(annotations), selector);
        expect(after.spec!.selector).toEqual(selector);
        expect(isPointing(after)).toBe(false);
    });
});

it("the Services of several faults have names of their own, of at most 63 characters", () => {
    const run = `${"x".repeat(45)}-12345678`;
    const names = ["fault", "fault-2", "fault-3"].map((attack) => witnessNameOf(`${run}-${attack}`));
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^[a-z0-9-]{1,63}$/);
    expect(witnessNameOf("short-1234-fault")).toBe("short-1234-fault-w");
});
