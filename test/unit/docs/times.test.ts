import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { times } from "../../../chaos/values/duration";

const textOf = (path: string) => readFileSync(join(__dirname, "..", "..", "..", path), "utf8");
/** As pages write it: `10 min`. */
const inWords = (duration: string) => duration.replace(/(\d)(\D+)$/, "$1 $2").replace(/ m$/, " min");

it.each(Object.entries(times))("the range and the default of %s are those that a user reads", (_, time) => {
    const range = `${inWords(time.least)} to ${inWords(time.most)}`;
    const row = textOf("chaos/README.md")
        .split("\n")
        .find((line) => line.startsWith("|") && line.includes(range) && line.includes(`"${time.usual}"`));
    expect(row).toBeDefined();
    // What an editor shows.
    const comments = ["arguments", "begin-settings"].map((name) => textOf(`chaos/definition/${name}.ts`)).join("");
    expect(comments.replace(/\n +\*/g, "")).toMatch(new RegExp(`${range}[^/]*@default "${time.usual}"`));
});
