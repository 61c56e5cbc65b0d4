import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { groupedBy } from "../../chaos/values/grouped";

const project = join(__dirname, "..", "..");

/** ESLint measures the lines of TypeScript and JavaScript. */
const measured = /(\.(conf|css|go|html|md|sh|sql|ya?ml)|\.ci\/run)$/;

/** Another text, even of a comment, would recreate the database's pod at an upgrade, and its data without a claim. */
const unchanged = "services/database/schema.sql";

/** Reports, as they were written. */
const written = /^docs\/gallery\/.*\.html$/;

const git = (...args: string[]) => execFileSync("git", args, { cwd: project, encoding: "utf8" }).trim().split("\n");

const files = () => git("ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate");

/** Such as `README.md: 11, 17`, with the numbers of the lines that are too long. */
function tooLong(file: string): string[] {
    const lines = readFileSync(join(project, file), "utf8").split("\n");
    const numbers = lines.flatMap((line, index) => (line.length > 120 && !line.startsWith("|") ? [index + 1] : []));
    return numbers.length === 0 ? [] : [`${file}: ${numbers.join(", ")}`];
}

it("no line has more than 120 columns, except in tables of Markdown", () => {
    const read = files().filter((file) => measured.test(file) && !written.test(file) && file !== unchanged);
    expect(read.flatMap(tooLong)).toEqual([]);
});

/** The attributes of files in a checkout, such as `text: set, eol: lf`. */
function attributesOf(...paths: string[]): Record<string, string> {
    const found: Record<string, string> = {};
    for (const line of git("check-attr", "text", "eol", "--", ...paths)) {
        const [path = "", attribute, value] = line.split(": ");
        found[path] = [found[path], `${attribute}: ${value}`].filter(Boolean).join(", ");
    }
    return found;
}

it("git for Windows checks every text out with LF: containers run them, and hashes of them name what is built", () => {
    const texts = files().filter((file) => !/\.(png|tgz)$/.test(file));
    const others = Object.entries(attributesOf(...texts)).filter(([, found]) => found !== "text: auto, eol: lf");
    expect(others).toEqual([]);
});

it("git changes no byte of pictures and tarballs", () => {
    expect(attributesOf("docs/page.png", "test/e2e/experiments/earlier/package-0.5.0.tgz")).toEqual({
        "docs/page.png": "text: unset, eol: lf",
        "test/e2e/experiments/earlier/package-0.5.0.tgz": "text: unset, eol: lf",
    });
});

/** What a file of end-to-end tests has in the cluster by names of its own, such as its namespace. */
function ownNames(file: string): string[] {
    const text = readFileSync(join(project, file), "utf8");
    return [...text.matchAll(/"((?:e2e|sandbox)-[a-z-]+)"/g)].map(([, name]) => name!);
}

it("no two files of end-to-end tests use the same name in the cluster: they run side by side", () => {
    const tests = files().filter((file) => /e2e\/.*\.test\.ts$/.test(file));
    const uses = tests.flatMap((file) => [...new Set(ownNames(file))].map((name) => ({ name, file })));
    const users = [...groupedBy(uses, ({ name }) => name).values()];
    expect(users.length).toBeGreaterThan(15);
    expect(users.filter(({ length }) => length > 1)).toEqual([]);
});
