import { describe, expect, it } from "vitest";
import { recordIn } from "../../../../components/cluster/state-records";

const cluster = { uid: "uid-a", context: "kind-a" };
const stash = (name: string, output: unknown) => ({
    urn: `urn:pulumi:local::chaos-shop::pulumi:index:Stash::${name}`,
    type: "pulumi:index:Stash",
    outputs: { output },
});
const exported = (...resources: object[]) => JSON.stringify({ version: 3, deployment: { resources } });

describe("a state may be refreshed from a cluster", () => {
    it.each([
        ["without resources", JSON.stringify({ version: 3, deployment: {} }), true],
        ["that was made there", exported(stash("identity", "x"), stash("cluster", { uid: "uid-a" })), true],
        ["that was made elsewhere", exported(stash("cluster", { uid: "uid-b" })), false],
        [
            "that was to move there, and did not",
            exported(stash("cluster", { uid: "uid-a" }), {
                urn: "urn:pulumi:local::chaos-shop::pulumi:providers:kubernetes::cluster",
                type: "pulumi:providers:kubernetes",
                outputs: { clusterIdentifier: "uid-b" },
            }),
            false,
        ],
    ])("if it is one %s: %s", (_, state, expected) => expect(recordIn(state, cluster).isMadeHere).toBe(expected));
});

describe("a cluster that was recreated takes the place of the earlier one", () => {
    const { urn } = stash("cluster", {});
    it.each([
        ["another uid under the same context", { uid: "uid-b", context: "kind-a" }, urn],
        ["the same uid", { uid: "uid-a", context: "kind-a" }, undefined],
        ["another context, whose cluster may still exist", { uid: "uid-b", context: "kind-b" }, undefined],
    ])("if the state records %s", (_, recorded, expected) =>
        expect(recordIn(exported(stash("cluster", recorded)), cluster).earlier).toBe(expected),
    );
});
