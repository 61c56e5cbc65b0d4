import { expect, it } from "vitest";
import { nodeArguments } from "../../../toolchain/pulumi/language-host/run-program";

it.each([
    [undefined, []],
    [null, []],
    ["--require './a b.js'  --trace-warnings", ["--require", "./a b.js", "--trace-warnings"]],
])("nodeargs %j of a Pulumi.yaml are split as by a shell", (given, args) => expect(nodeArguments(given)).toEqual(args));

it.each([
    ["--require './a b.js", "Got EOF while in a quoted string"],
    [["--require", "./a.js"], "it is not a text"],
])("nodeargs %j are refused by the name of the option", (given, why) => {
    expect(() => nodeArguments(given)).toThrow(
        `runtime.options.nodeargs in Pulumi.yaml is ${JSON.stringify(given)}: ${why}; ` +
            "allowed: arguments for node, as a shell splits them",
    );
});
