import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { settings } from "../../../components/configuration/settings";

const project = resolve(__dirname, "..", "..", "..");
const skipped = ["node_modules", "reports", "modules", "dist"];

/** Every Markdown file of the repository, relative to its root. */
function pagesIn(folder: string): string[] {
    return readdirSync(join(project, folder), { withFileTypes: true }).flatMap((entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) return entry.name.startsWith(".") || skipped.includes(entry.name) ? [] : pagesIn(path);
        return entry.name.endsWith(".md") ? [path] : [];
    });
}

const pages = pagesIn("");
const textOf = (page: string) => readFileSync(join(project, page), "utf8");
const withoutFences = (text: string) => text.replace(/^( *)(```+)[\s\S]*?^\1\2 *$/gm, "");
const withoutCode = (text: string) => withoutFences(text).replace(/`[^`\n]+`/g, "`code`");

/** The targets of a page's links and pictures, except those on the web. */
function localLinks(page: string): string[] {
    const targets = [...withoutCode(textOf(page)).matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)].map(([, to]) => to!);
    return targets.filter((to) => !/^(?:https?|mailto):/.test(to));
}

/** The anchors of a page's headings, as GitHub derives them: https://github.com/gjtorikian/html-pipeline's rules. */
function anchorsOf(page: string): Set<string> {
    const anchors = new Set<string>();
    for (const [, heading] of withoutFences(textOf(page)).matchAll(/^#{1,6} +(.+?) *$/gm)) {
        const slug = heading!
            .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
            .toLowerCase()
            .replace(/[^\p{L}\p{N}\s_-]/gu, "")
            .replace(/\s/g, "-");
        let anchor = slug;
        for (let copy = 1; anchors.has(anchor); copy++) anchor = `${slug}-${copy}`;
        anchors.add(anchor);
    }
    return anchors;
}

function problemWith(page: string, link: string): string | undefined {
    const [path, anchor] = link.split("#") as [string, string?];
    const target = path === "" ? page : relative(project, resolve(project, dirname(page), path));
    if (target.startsWith("..") || !existsSync(join(project, target))) return `${link}: there is no ${target}`;
    if (anchor === undefined) return undefined;
    if (!target.endsWith(".md")) return `${link}: ${target} has no headings`;
    return anchorsOf(target).has(anchor) ? undefined : `${link}: ${target} has no heading #${anchor}`;
}

/** A line of an indented block that is a sentence, or is further to the right and continues no line before it. */
function isMisplaced(line: string, index: number, lines: readonly string[]): boolean {
    const indentOf = (text: string) => text.search(/\S/);
    const isContinued = index > 0 && lines[index - 1]!.endsWith("\\");
    return /^ +[A-Z][a-z]+ .*[.:]$/.test(line) || (indentOf(line) > indentOf(lines[0]!) && !isContinued);
}

const { scripts } = JSON.parse(textOf("package.json")) as { scripts: Record<string, string> };
const folders = readdirSync(project, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && !skipped.includes(entry.name))
    .map(({ name }) => name);
const repositoryFile = new RegExp(`^(?:${folders.join("|")})/[\\w./-]+\\.(?:ts|mts|js|json|yaml|svg|png|md)$`);

describe.each(pages)("%s", (page) => {
    it("has links that lead somewhere", () => {
        const problems = localLinks(page).map((link) => problemWith(page, link));
        expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
    });

    it("names npm scripts that exist", () => {
        const named = [...textOf(page).matchAll(/\bnpm run (?:-s |--silent )?([a-z][\w:-]*)/g)].map(
            ([, name]) => name!,
        );
        expect(named.filter((name) => !(name in scripts))).toEqual([]);
    });

    // The settings of other programs are their own.
    it.skipIf(/^(?:chaos|examples)\//.test(page))("names settings that exist", () => {
        const command = /\bconfig (?:set|rm) (?:--secret )?([a-z][\w.-]*)/g;
        const named = [...textOf(page).matchAll(command)].map(([, key]) => key!);
        expect(named.filter((key) => !(key in settings))).toEqual([]);
    });

    it("has no sentence in a block of commands, and no command further to the right than the first", () => {
        const blocks = withoutFences(textOf(page)).matchAll(/(?<=\n\n)(?: {4}.*\n)+/g);
        const wrong = [...blocks].flatMap(([block]) =>
            // An object in TypeScript, and a transcript, have other indents.
            /^ {4}(?:\{|headers:|Type|<!--)/.test(block) ? [] : block.split("\n").filter(isMisplaced),
        );
        expect(wrong).toEqual([]);
    });

    it("names files that exist", () => {
        const named = [...withoutFences(textOf(page)).matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
        // Reports come with the first run, and capitals stand for a name to choose.
        const files = named.filter((code) => repositoryFile.test(code) && !/\b[A-Z]{3,}\b/.test(code));
        expect(files.filter((file) => !existsSync(join(project, file)))).toEqual([]);
    });
});

describe("the pages together", () => {
    it("can all be reached from README.md", () => {
        const reached = new Set(["README.md"]);
        for (const page of reached) {
            for (const link of localLinks(page)) {
                const target = relative(project, resolve(project, dirname(page), link.split("#")[0]!));
                if (pages.includes(target)) reached.add(target);
            }
        }
        expect(pages.filter((page) => !reached.has(page))).toEqual([]);
    });

    it("begin with a README of at most 200 lines", () => {
        expect(textOf("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(200);
    });
});
