import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { changed, goBuildArguments, goPart } from "../../../toolchain/parts/go";
import { isNewEnough } from "../../../toolchain/parts/go-toolchain";
import { unsuitableBecause } from "../../../toolchain/parts/host";
import { damagedFiles, readManifest, writeManifest } from "../../../toolchain/parts/manifest";
import { type Part, withNeeds } from "../../../toolchain/parts/part";
import { cachePaths } from "../../../toolchain/parts/paths";
import { fingerprintOf } from "../../../toolchain/parts/store";
import { pulumiParts } from "../../../toolchain/pulumi/parts";

let scratch: string;
beforeEach(() => void (scratch = mkdtempSync(join(tmpdir(), "chaos-shop-parts-"))));
afterEach(() => rmSync(scratch, { recursive: true }));

describe("the cache's folders", () => {
    it.each([
        [{ HOME: "/home/ada" }, "/home/ada/.cache/chaos-shop", "/home/ada/.pulumi"],
        [{ HOME: "/home/ada", XDG_CACHE_HOME: "/big" }, "/big/chaos-shop", "/home/ada/.pulumi"],
        [{ HOME: "/home/ada", XDG_CACHE_HOME: "relative" }, "/home/ada/.cache/chaos-shop", "/home/ada/.pulumi"],
        [{ HOME: "/home/ada", PULUMI_HOME: "/opt/p" }, "/home/ada/.cache/chaos-shop", "/opt/p"],
    ])("follow the environment %o", (env, cache, pulumiHome) => {
        expect(cachePaths(env)).toMatchObject({ cache, pulumiHome, parts: `${cache}/parts` });
    });
});

describe("the parts to build", () => {
    const part = (name: string, ...needs: Part[]): Part =>
        ({ kind: "installed", name, needs }) as Partial<Part> as Part;
    const go = part("go");
    const base = part("base", go);

    it("are each listed once, after those that they need", () => {
        const parts = withNeeds([part("image", base), part("program", go), base]);
        expect(parts.map(({ name }) => name)).toEqual(["go", "base", "image", "program"]);
    });

    it("are the CLI and the two providers for Pulumi", () => {
        const names = withNeeds(pulumiParts).map(({ name }) => name);
        expect(names).toEqual(["pulumi-cli", "pulumi-kubernetes", "pulumi-command"]);
    });
});

describe("a part's fingerprint", () => {
    const part = { name: "kube", version: "1", recipe: { flags: ["-a"] }, sources: ["module"] } as const;
    const fingerprint = (changes: object = {}, needed: string[] = []) =>
        fingerprintOf({ ...part, sourceFolder: scratch, ...changes }, needed);

    beforeEach(() => {
        mkdirSync(join(scratch, "module/controller"), { recursive: true });
        writeFileSync(join(scratch, "module/go.sum"), "sums");
        writeFileSync(join(scratch, "module/controller/main.go"), "package main");
    });

    it("stays the same if only the files' times change", () => {
        const before = fingerprint();
        utimesSync(join(scratch, "module/go.sum"), 1, 1);
        expect(fingerprint()).toBe(before);
    });

    it.each([
        ["the version", () => fingerprint({ version: "2" })],
        ["the recipe", () => fingerprint({ recipe: { flags: [] } })],
        ["a needed part", () => fingerprint({}, ["0123"])],
        ["a file", () => (writeFileSync(join(scratch, "module/controller/main.go"), "package other"), fingerprint())],
        ["the list of files", () => (writeFileSync(join(scratch, "module/more.go"), ""), fingerprint())],
    ])("changes with %s", (_, changed) => {
        const before = fingerprint();
        expect(changed()).not.toBe(before);
    });
});

describe("a part's manifest", () => {
    it("detects a missing file, another size and another time", () => {
        const file = join(scratch, "kube");
        writeFileSync(file, "program");
        utimesSync(file, 1, 1);
        writeManifest(scratch, {});
        const damaged = () => damagedFiles(scratch, readManifest(scratch)!);
        expect(damaged()).toEqual([]);

        utimesSync(file, 2, 2);
        expect(damaged()).toEqual(["kube"]);
        writeFileSync(file, "longer program");
        utimesSync(file, 1, 1);
        expect(damaged()).toEqual(["kube"]);
        rmSync(file);
        expect(damaged()).toEqual(["kube"]);
    });

    it("that was cut short counts as missing", () => {
        writeFileSync(join(scratch, "manifest.json"), '{"files": [');
        expect(readManifest(scratch)).toBeUndefined();
    });
});

describe("Go", () => {
    it.each([
        ["1.26", true],
        ["1.26.8", true],
        ["1.27rc1", true],
        ["2.0", true],
        ["1.25.9", false],
        ["1.19.8", false],
    ])("%s is new enough: %s", (version, expected) => expect(isNewEnough(version)).toBe(expected));

    it("is called with committed checksums only, and without the checkout's state", () => {
        const args = goBuildArguments({
            packages: ["./program"],
            variables: { "a/b.Version": "v1" },
        });
        expect(args).toEqual(expect.arrayContaining(["-mod=readonly", "-buildvcs=false", "-s -w -X a/b.Version=v1"]));
        expect(args.at(-1)).toBe("./program");
    });

    it("makes a program again when other folders of its dependencies are to be copied", () => {
        const about = { name: "program", version: "1", title: "Program", minutes: 1 };
        const build = { sourceFolder: scratch, module: "program", packages: ["./program"] };
        const recipe = (folder: string) =>
            goPart(about, { ...build, copies: { crds: { module: "a/b", folder } } }).recipe;
        expect(recipe("config/v1")).not.toBe(recipe("config/v2"));
    });

    it.each([
        ["is missing", "a", 0],
        ["occurs twice", "abab", 2],
    ])("refuses to change a dependency's file in which the text %s", (_case, text, times) =>
        expect(() => changed(text, [{ from: "b", to: "c" }], "m/f.go")).toThrow(`m/f.go contains ${times} times`),
    );

    it("changes a dependency's file by texts and patterns, in order", () =>
        expect(
            changed(
                "abc",
                [
                    { from: "a", to: "$&" },
                    { from: /b[^]$/, to: "d" },
                ],
                "m/f.go",
            ),
        ).toBe("$&d"));
});

describe("a machine", () => {
    const suitable = { platform: "linux", architecture: "x64", userId: 0, hasApt: true } as const;

    it("can build parts if it runs Linux with apt, as root", () => expect(unsuitableBecause(suitable)).toBeUndefined());

    it.each([
        [{ platform: "darwin" as const }, /Linux.*darwin/],
        [{ architecture: "s390x" }, /x64 or arm64.*s390x/],
        [{ hasApt: false }, /apt-get/],
        [{ userId: 1000 }, /root.*1000/],
    ])("cannot build parts, and says why, with %o", (facts, why) =>
        expect(unsuitableBecause({ ...suitable, ...facts })).toMatch(why),
    );
});
