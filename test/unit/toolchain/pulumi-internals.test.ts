import { Stack } from "@pulumi/pulumi/automation";
import { expect, it } from "vitest";
import { isConfigSecret, requireTestedVersion, withoutOutputsAfterUpdates } from "../../../toolchain/pulumi-internals";

it("rejects every other version of the SDK, with both versions in the message", () => {
    expect(() => requireTestedVersion("3.233.0")).toThrow(/3\.232\.0.*3\.233\.0/);
});

it("finds what it uses in the installed SDK", () => {
    expect(isConfigSecret("chaos-shop:no.such.setting")).toBe(false);
    expect(Stack.prototype).toMatchObject({ outputs: expect.any(Function), info: expect.any(Function) });
});

it("reads neither outputs nor history after an update", async () => {
    const fail = () => Promise.reject(new Error("started the CLI"));
    const stack = withoutOutputsAfterUpdates({ outputs: fail, info: fail } as Partial<Stack> as Stack);
    expect([await stack.outputs(), await stack.info()]).toEqual([{}, undefined]);
});
