import { expect, it } from "vitest";
import { saysPending, withoutRepeatable } from "../../../cli/pending";

const urn = (type: string, name: string) => `urn:pulumi:local::chaos-shop::${type}::${name}`;
const resource = (type: string, name: string, metadata?: object) => ({
    urn: urn(type, name),
    type,
    inputs: metadata && { metadata },
});
const step = resource("command:local:Command", "experiment-check");
const service = "kubernetes:core/v1:Service";
const gateway = resource(service, "gateway", { name: "gateway", namespace: "demo" });
const elsewhere = resource(service, "gateway", { name: "gateway", namespace: "shop" });
const unnamed = resource("random:index:Password", "password");

const state = (resources: object[], ...pending: [type: string, resource: object][]) =>
    JSON.stringify({
        version: 3,
        deployment: {
            manifest: {},
            resources,
            pending_operations: pending.map(([type, resource]) => ({ type, resource })),
        },
    });

it.each([
    ["a step that was being created", [], ["creating", step]],
    ["an object that a later update created", [gateway], ["creating", gateway]],
] as const)("%s is no longer pending", (_, resources, pending) => {
    const without = withoutRepeatable(state([...resources], [...pending], ["creating", unnamed]));
    expect(without).toBe(state([...resources], ["creating", unnamed]));
});

it.each([
    ["an object that may exist unknown", [], ["creating", gateway]],
    ["an object of another namespace", [gateway], ["creating", elsewhere]],
    ["a resource without a name", [unnamed], ["creating", unnamed]],
    ["an update, which the next one clears", [gateway], ["updating", gateway]],
] as const)("%s stays pending", (_, resources, pending) => {
    expect(withoutRepeatable(state([...resources], [...pending]))).toBeUndefined();
});

it("a state without pending operations stays as it is", () => {
    expect(withoutRepeatable(JSON.stringify({ version: 3 }))).toBeUndefined();
    expect(withoutRepeatable(JSON.stringify({ deployment: { resources: [gateway] } }))).toBeUndefined();
});

it("an update says that there are some", () => {
    const message = "Attempting to deploy or update resources with 1 pending operations from previous deployment.\n  *";
    expect([saysPending({ diagnosticEvent: { message } }), saysPending({})]).toEqual([true, false]);
});
