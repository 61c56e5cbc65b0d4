import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { register } from "tsx/cjs/api";
import { afterAll, beforeAll, expect, it } from "vitest";
import { generatedPages } from "../../../docs/generate";
import { withPart } from "../../../docs/markdown";

// Saved experiments are TypeScript, which `npm run docs` loads by tsx.
let unregister: () => void;
beforeAll(() => void (unregister = register()));
afterAll(() => unregister());

it.each(Object.entries(generatedPages))("docs/%s is what `npm run docs` writes", (name, written) => {
    const page = readFileSync(join(resolve(__dirname, "..", "..", ".."), "docs", name), "utf8");
    expect(page).toBe(written(page));
});

it("a page without the part that is to be written is an error", () =>
    expect(() => withPart("# Commands\n", "demo", "")).toThrow("<!-- demo: written by `npm run docs`. -->"));
