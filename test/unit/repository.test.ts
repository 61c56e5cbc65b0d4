import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const project = join(__dirname, "..", "..");

/** ESLint measures the lines of TypeScript and JavaScript. */
const measured = /(\.(conf|css|go|html|md|sh|sql|ya?ml)|\.ci\/run)$/;

/** Another text, even of a comment, would recreate the database's pod at an upgrade, and its data without a claim. */
const unchanged = "services/database/schema.sql";

function files(): string[] {
    const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"], {
        cwd: project,
        encoding: "utf8",
    });
    return listed.split("\n").filter((file) => measured.test(file) && file !== unchanged);
}

/** Such as `README.md: 11, 17`, with the numbers of the lines that are too long. */
function tooLong(file: string): string[] {
    const lines = readFileSync(join(project, file), "utf8").split("\n");
    const numbers = lines.flatMap((line, index) => (line.length > 120 && !line.startsWith("|") ? [index + 1] : []));
    return numbers.length === 0 ? [] : [`${file}: ${numbers.join(", ")}`];
}

it("no line has more than 120 columns, except in tables of Markdown", () => {
    expect(files().flatMap(tooLong)).toEqual([]);
});
