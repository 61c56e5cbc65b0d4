import { describe, expect, it } from "vitest";
import { benchOptions } from "../../../bench/bench";
import { manifestsOf } from "../../../bench/stack";

describe("the manifests of a stack", () => {
    const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", plaintext: '"hush"' };
    const resource = (kind: string, rest: object) => ({
        type: `kubernetes:core/v1:${kind}`,
        custom: true,
        inputs: { apiVersion: "v1", kind, ...rest },
    });
    const state = (...resources: object[]) => ({ deployment: { resources } }) as Parameters<typeof manifestsOf>[0];

    it("are its Kubernetes objects only, moved to the namespace", () => {
        const others = [
            { type: "chaos-shop:shop:Shop", custom: false },
            { type: "command:local:Command", custom: true, inputs: {} },
            { type: "pulumi:providers:kubernetes", custom: true, inputs: {} },
        ];
        const objects = [
            resource("Namespace", { metadata: { name: "a", labels: { x: "y" } } }),
            resource("Service", { metadata: { name: "s", namespace: "a" } }),
        ];
        expect(manifestsOf(state(...others, ...objects), "b")).toEqual([
            { apiVersion: "v1", kind: "Namespace", metadata: { name: "b", labels: { x: "y" } } },
            { apiVersion: "v1", kind: "Service", metadata: { name: "s", namespace: "b" } },
        ]);
    });
    it("have secrets in clear text", () =>
        expect(
            manifestsOf(state(resource("Secret", { metadata: { name: "s" }, stringData: { key: secret } })), "b")[0],
        ).toMatchObject({ stringData: { key: "hush" } }));
    it("are an error if a secret is encrypted", () =>
        expect(() =>
            manifestsOf(
                state(
                    resource("Secret", {
                        metadata: {},
                        stringData: { ...secret, plaintext: undefined, ciphertext: "x" },
                    }),
                ),
                "b",
            ),
        ).toThrow("--show-secrets"));
});

describe("the command line", () => {
    const known = ["one", "two", "peers-first", "peers-second"];
    it.each([
        [[], { json: false, names: known }],
        [["two", "--json"], { json: true, names: ["two"] }],
        [["two", "one"], { json: false, names: ["one", "two"] }],
        [["peers"], { json: false, names: ["peers-first", "peers-second"] }],
    ])("%j", (args, options) => expect(benchOptions(args, known)).toEqual(options));

    it.each([
        [["three"], "three; allowed: one, two, peers-first, peers-second"],
        [["--fast"], "unknown option '--fast'"],
    ])("refuses %j", (args, message) => expect(() => benchOptions(args, known)).toThrow(message));
});
