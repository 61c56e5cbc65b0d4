/** `npm run docs`: writes the pages that are made from data, and the parts of pages. A unit test holds them equal. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generatedPages } from "./generated-pages";

for (const [name, written] of Object.entries(generatedPages)) {
    const page = join(__dirname, name);
    writeFileSync(page, written(readFileSync(page, "utf8")));
}
