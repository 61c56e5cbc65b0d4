import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { type Setting, settings } from "../../../components/configuration/settings";

const project = resolve(__dirname, "..", "..", "..");
const page = readFileSync(join(project, "docs", "settings.md"), "utf8");

/** A row of a table, without the padding of its cells. */
const narrow = (line: string) => line.replaceAll(/ +/g, " ");

describe("docs/settings.md", () => {
    it.each(Object.entries<Setting<unknown>>(settings))("lists %s once, as the program reads it", (key, setting) => {
        const rows = page
            .split("\n")
            .map(narrow)
            .filter((line) => line.startsWith(`| \`${key}\` |`));
        const { default: standard, describedDefault = "none", meaning } = setting;
        const shown = standard === undefined ? describedDefault : `\`${standard}\``;
        expect(rows).toHaveLength(1);
        expect(rows[0]).toContain(`| ${shown} |`);
        expect(rows[0]).toContain(`| ${meaning} |`);
    });
});
