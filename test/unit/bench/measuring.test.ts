import { describe, expect, it } from "vitest";
import { manifestsOf } from "../../../bench/manifests";
import { readOptions } from "../../../bench/options";
import { residentMegabytes } from "../../../bench/podMemory";
import { recoverySeconds } from "../../../bench/recovery";

describe("the recovery", () => {
    const bad = (answeredAt: number) => ({ answeredAt, good: false });
    const good = (answeredAt: number) => ({ answeredAt, good: true });

    it("lasts from the policy's deletion to the first good answer after the last bad one", () =>
        expect(recoverySeconds([bad(900), good(1_100), bad(1_400), good(1_500), good(1_600)], 1_000)).toBe(0.5));
    it("takes the answers in the order of answering", () =>
        expect(recoverySeconds([good(1_500), bad(900), good(1_300)], 1_000)).toBe(0.3));
    it("took no time where the answer came before the news", () =>
        expect(recoverySeconds([bad(900), good(950)], 1_000)).toBe(0));
    it("is not told without an attack", () =>
        expect(() => recoverySeconds([good(1)], 0)).toThrow("nothing to recover from"));
    it("is not told without a recovery", () =>
        expect(() => recoverySeconds([good(1), bad(2)], 0)).toThrow("still bad"));
});

describe("the manifests of a stack", () => {
    const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", plaintext: '"hush"' };
    const resource = (kind: string, rest: object) => ({
        type: `kubernetes:core/v1:${kind}`,
        custom: true,
        inputs: { apiVersion: "v1", kind, ...rest },
    });
    const state = (...resources: object[]) => ({ deployment: { resources } }) as Parameters<typeof manifestsOf>[0];

    it("are its Kubernetes objects alone, moved to the namespace", () => {
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
    it("are refused where a secret is encrypted", () =>
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

it("resident memory is that of all processes but the shell that looked", () => {
    const status = (name: string, kib: number) => `Name:\t${name}\nState:\tS\nVmRSS:\t   ${kib} kB\nThreads:\t1\n`;
    expect(
        residentMegabytes(
            status("node", 50_000) + status("MainThread", 25_000) + status("sh", 900) + status("cat", 800),
        ),
    ).toBeCloseTo(76.8);
});

describe("the command line", () => {
    const known = ["one", "two"];
    it.each([
        [[], { kind: "run", json: false, names: known }],
        [["two", "--json"], { kind: "run", json: true, names: ["two"] }],
        [["two", "one"], { kind: "run", json: false, names: known }],
        [["--help"], { kind: "help" }],
    ])("%j", (args, options) => expect(readOptions(args, known)).toEqual(options));

    it.each([
        [["three"], "three; there are one, two"],
        [["--fast"], "allowed: --json, --help"],
    ])("refuses %j", (args, message) => {
        const options = readOptions(args, known);
        expect(options).toMatchObject({ kind: "mistake", message: expect.stringContaining(message) });
    });
});
