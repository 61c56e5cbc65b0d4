import { describe, expect, it } from "vitest";
import packageJson from "../../../chaos/package.json";
import compilerOptions from "../../../chaos/tsconfig.json";
import {
    changelogMistakes,
    neededFiles,
    nextVersion,
    pageMistakes,
    tarballMistakes,
    upgradedFrom,
    versionMistakes,
} from "../../../cli/release-checks";

const changelog = (...titles: string[]) =>
    `# Changelog\n\n${titles.map((title) => `## ${title}\n\n### Added\n\n- Something.\n`).join("\n")}`;

describe("the next version", () => {
    it("is a minor one if something is not released, otherwise that of the packages", () => {
        expect(nextVersion("0.6.3", changelog("Unreleased", "0.6.3"))).toBe("0.7.0");
        expect(nextVersion("0.7.0", changelog("0.7.0", "0.6.3"))).toBe("0.7.0");
    });

    it("must not be before that of the packages, which all have the same", () => {
        expect(versionMistakes("0.7.0", { "package.json": "0.6.0", "chaos/package.json": "0.6.0" })).toEqual([]);
        expect(versionMistakes("0.5.0", { "package.json": "0.6.0", "chaos/package.json": "0.5.0" })).toEqual([
            "chaos/package.json has 0.5.0, but package.json has 0.6.0",
            "0.5.0 is before 0.6.0",
        ]);
    });
});

describe("a changelog", () => {
    it.each([
        ["what is not released first", changelog("Unreleased", "0.6.0", "0.5.0")],
        ["the next version first", changelog("0.7.0", "0.6.0")],
    ])("may have %s", (_what, text) => expect(changelogMistakes("0.7.0", "0.6.0", text)).toEqual([]));

    it.each([
        ["an earlier version first", changelog("0.6.0"), "its first section is 0.6.0, not 0.7.0"],
        ["no entry", "## Unreleased\n\n## 0.6.0\n", "its section Unreleased has no entry"],
        ["a version twice", changelog("0.7.0", "0.6.0", "0.6.0"), "0.6.0 is below 0.6.0"],
        ["a later version below", changelog("0.7.0", "0.5.0", "0.6.0"), "0.6.0 is below 0.5.0"],
        ["a heading twice", "## 0.7.0\n### Added\n- A.\n### Added\n- B.\n", "0.7.0 has the heading Added twice"],
    ])("must not have %s", (_what, text, mistake) =>
        expect(changelogMistakes("0.7.0", "0.6.0", text)).toEqual([mistake]),
    );
});

it("a changelog must not say Unreleased of a version that the packages have", () => {
    expect(changelogMistakes("0.8.0", "0.7.0", changelog("Unreleased", "0.6.0"))).toEqual([
        "the packages have 0.7.0, and its last release is 0.6.0; give Unreleased its number, too",
    ]);
});

describe("a tarball", () => {
    const files = neededFiles.map((path) => ({ path }));

    it("may have 450 kB, and not a byte more", () => {
        expect(tarballMistakes({ size: 450_000, files })).toEqual([]);
        expect(tarballMistakes({ size: 450_001, files })).toEqual(["it has 450001 bytes; allowed: 450000"]);
    });

    it("has all that the package says to publish", () => {
        const published = packageJson.files.filter((path) => path !== "dist");
        expect(neededFiles).toEqual(expect.arrayContaining(published));
    });

    it("has each source that the package's compiler is given", () => {
        const sources = compilerOptions.include.map((source) => `dist/${source.replace(/ts$/, "js")}`);
        expect(neededFiles).toEqual(expect.arrayContaining(sources));
    });

    it("must have what a program needs, and nothing else", () => {
        expect(tarballMistakes({ size: 1, files: [...files.slice(1), { path: ".env" }] })).toEqual([
            "it lacks package.json",
            "it has .env, which no program needs",
        ]);
    });
});

it.each([
    "PULUMI_VERSION: 3.231.0",
    "Node.js 18.0 or newer",
    "node-version: 18",
    "image: node:18",
    "pulumi-chaos-experiments-0.6.0.tgz",
    "version 0.8.0",
])("a page must not say %s, if that is neither installed nor released", (text) => {
    expect(pageMistakes("0.7.0", { "a.md": text }, { node: "20.19", pulumi: "3.232.0" })).toHaveLength(1);
});

it("a page may say what is installed, and what is released", () => {
    const text = [
        "PULUMI_VERSION: 3.232.0",
        "Node.js 20.19 or newer",
        "node-version: 20",
        "image: node:20",
        "pulumi-chaos-experiments-0.7.0.tgz",
        "versions up to 0.6.0",
    ].join("\n");
    expect(pageMistakes("0.7.0", { "a.md": text }, { node: "20.19", pulumi: "3.232.0" })).toEqual([]);
});

it("upgrades are tested from the last two versions, from 0.5.0 on", () => {
    const from = (...titles: string[]) => upgradedFrom("0.8.0", changelog("Unreleased", ...titles));
    expect(from("0.7.0", "0.6.0", "0.5.0")).toEqual(["0.7.0", "0.6.0"]);
    expect(from("0.5.0", "0.4.0")).toEqual(["0.5.0"]);
});
