import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fingerprintOf } from "../../../sandbox/parts/fingerprint";
import { goBuildArguments, isNewEnough } from "../../../sandbox/parts/go";
import { unsuitableBecause } from "../../../sandbox/parts/host";
import { locateParts } from "../../../sandbox/parts/locate";
import { damagedFiles, readManifest, writeManifest } from "../../../sandbox/parts/manifest";
import { sandboxPaths } from "../../../sandbox/parts/paths";
import { PARTS, partsFor } from "../../../sandbox/parts/table";

let scratch: string;
beforeEach(() => void (scratch = mkdtempSync(join(tmpdir(), "chaos-shop-parts-"))));
afterEach(() => rmSync(scratch, { recursive: true }));

describe("where things are kept", () => {
    it.each([
        [{ HOME: "/home/ada" }, "/home/ada/.cache/chaos-shop", "/home/ada/.pulumi"],
        [{ HOME: "/home/ada", XDG_CACHE_HOME: "/big" }, "/big/chaos-shop", "/home/ada/.pulumi"],
        [{ HOME: "/home/ada", XDG_CACHE_HOME: "relative" }, "/home/ada/.cache/chaos-shop", "/home/ada/.pulumi"],
        [{ HOME: "/home/ada", PULUMI_HOME: "/opt/p" }, "/home/ada/.cache/chaos-shop", "/opt/p"],
    ])("follows the environment %o", (env, cache, pulumiHome) => {
        expect(sandboxPaths(env)).toMatchObject({ cache, pulumiHome, kubeconfig: `${cache}/node/kubeconfig` });
    });
});

describe("the table of parts", () => {
    it("lists each part after those that it needs", () => {
        PARTS.forEach(({ name, needs }, index) => {
            const before = PARTS.slice(0, index).map((other) => other.name);
            expect(before, name).toEqual(expect.arrayContaining([...needs]));
        });
    });

    it("takes nothing of the cluster for Pulumi alone, and everything for all", () => {
        const names = partsFor("pulumi").map((part) => part.name);
        expect(names).toEqual(["pulumi-cli", "pulumi-kubernetes", "pulumi-command"]);
        expect(partsFor("all").length).toBe(names.length + partsFor("cluster").length);
    });

    it("fits into three quarters of an hour on two cores", () => {
        const minutes = PARTS.reduce((sum, part) => sum + part.minutes, 0);
        // The builds of Pulumi are counted twice: once as what may be downloaded.
        expect(minutes).toBeLessThan(45);
    });

    it("brings every image under a full reference, each once", () => {
        const references = locateParts().images.map((image) => image.reference);
        expect(new Set(references).size).toBe(references.length);
        for (const reference of references) expect(reference).toMatch(/^[a-z0-9.-]+\.[a-z]+\/.+:[^:]+$/);
    });
});

describe("a part's fingerprint", () => {
    const part = { name: "kube", version: "1", recipe: { flags: ["-a"] }, sources: ["module"] } as const;
    const fingerprint = (changes: object = {}, needed: string[] = []) =>
        fingerprintOf({ ...part, ...changes }, needed, scratch);

    beforeEach(() => {
        mkdirSync(join(scratch, "module/controller"), { recursive: true });
        writeFileSync(join(scratch, "module/go.sum"), "sums");
        writeFileSync(join(scratch, "module/controller/main.go"), "package main");
    });

    it("stays as it is while nothing changes, whatever the files' times", () => {
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
    const about = {
        name: "kube",
        version: "1",
        fingerprint: "f",
        madeAt: "2026-01-01T00:00:00Z",
        seconds: 1,
        facts: {},
    };

    it("notices a file that is gone or has another size at once, and other content when asked to read it", async () => {
        const file = join(scratch, "kube");
        writeFileSync(file, "program");
        utimesSync(file, 1, 1);
        await writeManifest(scratch, about);
        const manifest = readManifest(scratch)!;
        expect(await damagedFiles(scratch, manifest, true)).toEqual([]);

        writeFileSync(file, "PROGRAM");
        utimesSync(file, 1, 1);
        expect(await damagedFiles(scratch, manifest, false)).toEqual([]);
        expect(await damagedFiles(scratch, manifest, true)).toEqual(["kube"]);

        writeFileSync(file, "longer program");
        expect(await damagedFiles(scratch, manifest, false)).toEqual(["kube"]);
        rmSync(file);
        expect(await damagedFiles(scratch, manifest, false)).toEqual(["kube"]);
    });

    it("that was cut short counts as none", () => {
        writeFileSync(join(scratch, "manifest.json"), '{"name": "ku');
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

    it("takes no sum that is not committed, and nothing from the checkout's state", () => {
        const args = goBuildArguments({
            module: "m",
            output: "o",
            variables: { "a/b.Version": "v1" },
            unoptimized: "a/generated/...",
        });
        expect(args).toEqual(expect.arrayContaining(["-mod=readonly", "-buildvcs=false", "-s -w -X a/b.Version=v1"]));
        expect(args).toContain("-gcflags=a/generated/...=-N -l");
    });
});

describe("a machine that cannot have the sandbox", () => {
    const suitable = { platform: "linux", architecture: "x64", userId: 0, hasApt: true } as const;

    it("is none that runs Linux with apt, as root", () => expect(unsuitableBecause(suitable)).toBeUndefined());

    it.each([
        [{ platform: "darwin" as const }, /Linux only.*darwin/],
        [{ architecture: "s390x" }, /x64 and arm64.*s390x/],
        [{ hasApt: false }, /apt-get/],
        [{ userId: 1000 }, /root.*1000/],
    ])("is told why: %o", (facts, why) => expect(unsuitableBecause({ ...suitable, ...facts })).toMatch(why));
});
