import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";

const chaos = resolve(__dirname, "..", "..", "..", "chaos");
const guide = readFileSync(join(chaos, "CONTRIBUTING.md"), "utf8");
const map = guide.slice(guide.indexOf("\n## Folders\n"), guide.indexOf("\n## How a run works\n"));

/** What the first columns of the map's tables name. */
const mapped = [...map.matchAll(/^\| (`[^|]+`) +\|/gm)]
    .flatMap(([, names]) => names!.split(", "))
    .map((name) => name.replaceAll("`", ""))
    .sort();

const inGit = (name: string) => !["node_modules", "dist"].includes(name);
const entries = readdirSync(chaos, { withFileTypes: true }).filter(({ name }) => inGit(name));

it("the map of chaos/ has each folder, and no other", () => {
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${name}/`);
    expect(mapped.filter((name) => name.endsWith("/"))).toEqual(folders.sort());
});

it("the map of chaos/ has each file beside the folders, and no other", () => {
    const files = entries.filter(({ name }) => name.endsWith(".ts")).map(({ name }) => name);
    expect(mapped.filter((name) => name.endsWith(".ts"))).toEqual(files.sort());
});
