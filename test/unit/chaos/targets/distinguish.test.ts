import { describe, expect, it } from "vitest";
import { containersOf } from "../../../../chaos/targets/containers";
import { distinctiveLabel } from "../../../../chaos/targets/distinguish";

const containers = (name: string, labels: Record<string, string>, namespace = "demo") =>
    containersOf(
        {
            metadata: { name, namespace, uid: `${namespace}/${name}`, labels },
            spec: { containers: [{ name: "main" }, { name: "sidecar" }] },
            status: { podIP: "10.0.0.1" },
        },
        undefined,
        "local",
    );

const gateway = containers("gateway", { app: "gateway", tier: "edge" });
const [one, two] = [
    containers("database-1", { app: "one", tier: "data" }),
    containers("database-2", { app: "two", tier: "data" }),
];

describe("the label that tells pods from all others", () => {
    it("is one that only they have, with the fewest values", () => {
        const all = [...gateway, ...one, ...two];
        expect(distinctiveLabel([...one, ...two], all)).toEqual({ key: "tier", values: ["data"] });
        expect(distinctiveLabel(one, all)).toEqual({ key: "app", values: ["one"] });
        expect(distinctiveLabel([...one, ...gateway], all)).toEqual({ key: "app", values: ["gateway", "one"] });
    });

    it("may be that of a pod in another namespace", () => {
        const elsewhere = containers("database-1", { app: "one" }, "other");
        expect(distinctiveLabel(one, [...one, ...elsewhere])?.key).toBe("app");
    });

    it("may be that of another container in the same pod", () =>
        expect(distinctiveLabel([one[0]!], one)).toEqual({ key: "app", values: ["one"] }));

    it.each([
        ["another pod has it", { app: "gateway" }],
        ["Cilium ignores it: of a controller", { "pod-template-hash": "x" }],
        ["Cilium ignores it: of Kubernetes", { "statefulset.kubernetes.io/pod-name": "database-1" }],
        ["there is no label", {}],
    ])("is missing if %s", (_, labels: Record<string, string>) => {
        const peer = containers("database-1", labels);
        expect(distinctiveLabel(peer, [...gateway, ...peer])).toBeUndefined();
    });

    it("may be one of app.kubernetes.io, which Cilium does not ignore", () => {
        const peer = containers("database-1", { "app.kubernetes.io/name": "database" });
        expect(distinctiveLabel(peer, peer)?.key).toBe("app.kubernetes.io/name");
    });

    it("is none if one of the pods lacks it", () => {
        const bare = containers("bare", {});
        expect(distinctiveLabel([...one, ...bare], [...one, ...bare])).toBeUndefined();
    });
});
