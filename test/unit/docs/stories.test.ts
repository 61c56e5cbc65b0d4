import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { loadSavedExperiments } from "../support/saved-experiments";

const page = readFileSync(join(resolve(__dirname, "..", "..", ".."), "docs", "stories.md"), "utf8");
const saved = loadSavedExperiments();

describe("docs/stories.md", () => {
    it.each(saved.filter(({ story }) => story !== undefined))(
        "tells $name once, with its hypothesis",
        ({ name, hypothesis }) => {
            const told = page.replace(/(?<=\S)\n(?=\S)/g, " ");
            expect(told.split(`### ${name}\n\n${hypothesis}\n`)).toHaveLength(2);
        },
    );

    it("has lines of at most 120 columns", () =>
        expect(page.split("\n").filter((line) => line.length > 120)).toEqual([]));
});
