import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RegisterResourceResponse } from "@pulumi/pulumi/proto/resource_pb";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { expect, it } from "vitest";
import "../../../toolchain/redact-debug-messages";

it("an engine's answer shows no secret in a debug message", () => {
    const answer = new RegisterResourceResponse();
    answer.setObject(Struct.fromJavaScript({ password: "s3cret" }));
    expect(String(answer)).not.toContain("s3cret");
});

it("the program redacts debug messages before it imports anything else", () => {
    const program = readFileSync(join(__dirname, "..", "..", "..", "index.ts"), "utf8");
    expect(program.split("\n").find((line) => line.startsWith("import "))).toMatch(
        /^import "\.\/toolchain\/redact-debug-messages";/,
    );
});
