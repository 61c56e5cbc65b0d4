import { expect, it } from "vitest";
import { canForgetPending, saysPending } from "../../../cli/pending";

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
    ["a step that was being created", [], step],
    ["an object that a later update created", [gateway], gateway],
] as const)("%s can be forgotten, unless something else is pending, too", (_, resources, pending) => {
    expect(canForgetPending(state([...resources], ["creating", pending]))).toBe(true);
    expect(canForgetPending(state([...resources], ["creating", pending], ["creating", unnamed]))).toBe(false);
});

it.each([
    ["an object that may exist unknown", [], "creating", gateway],
    ["an object of another namespace", [gateway], "creating", elsewhere],
    ["a resource without a name", [unnamed], "creating", unnamed],
    ["a deletion", [gateway], "deleting", gateway],
] as const)("%s stays pending", (_, resources, type, pending) => {
    expect(canForgetPending(state([...resources], [type, pending]))).toBe(false);
});

it("a state without pending operations stays as it is", () => {
    expect(canForgetPending(JSON.stringify({ version: 3 }))).toBe(false);
    expect(canForgetPending(state([gateway]))).toBe(false);
});

it("an update says that there are some", () => {
    const message = "Attempting to deploy or update resources with 1 pending operations from previous deployment.\n  *";
    expect([saysPending({ diagnosticEvent: { message } }), saysPending({})]).toEqual([true, false]);
});
