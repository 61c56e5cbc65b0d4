import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { animated, type Output } from "../../../docs/recording/animation";

const project = join(__dirname, "..", "..", "..");
const screen = { columns: 40, rows: 4 };
const picture = (...output: Output[]) => animated(output, screen, "A terminal");

/** The lines that are shown at the end. */
const last = (svg: string) =>
    [...svg.matchAll(/<text class="([^"]*)"[^>]*>(.*?)<\/text>/g)].flatMap(([, kind, text]) =>
        kind!.includes("gone") ? [] : [text!.replace(/<[^>]+>/g, "")],
    );

/** When a line appears, as a share of the whole time. */
function appears(svg: string, text: string): number {
    const [, name] = new RegExp(`<text class="(a\\d+)[^"]*"[^>]*>${text}`).exec(svg)!;
    return Number(new RegExp(`@keyframes ${name}\\{0%\\{opacity:0\\}([\\d.]+)%`).exec(svg)![1]);
}

describe("an animated picture of a terminal", () => {
    it("shows the last screen to who wants no motion, and runs no scripts", async () => {
        const svg = await picture({ atMs: 0, text: "one\r\n" }, { atMs: 900, text: "two <&>\r\n" });
        expect(last(svg)).toEqual(["one", "two &lt;&amp;&gt;"]);
        expect(svg).toMatch(/prefers-reduced-motion:reduce\),print\{text,\.all\{animation-name:none!important\}\}/);
        expect(svg).toContain("prefers-color-scheme:dark");
        expect(svg).not.toMatch(/<script|\bon\w+=|https?:\/\/(?!www\.w3\.org)/);
    });

    it("a line that is written again has both looks, one after the other", async () => {
        const svg = await picture({ atMs: 0, text: "1 of 2" }, { atMs: 600, text: "\r2 of 2\r\n" });
        expect(last(svg)).toEqual(["2 of 2"]);
        expect(appears(svg, "1 of 2")).toBe(0);
        expect(appears(svg, "2 of 2")).toBeGreaterThan(5);
    });

    it("scrolls when the screen is full, and shortens pauses", async () => {
        const lines = Array.from({ length: 6 }, (_, index) => ({ atMs: index * 60_000, text: `line ${index}\r\n` }));
        const svg = await picture(...lines);
        expect(svg).toMatch(/\.all\{transform:translateY\(-51px\)\}/);
        expect(svg).toContain("animation:13500ms step-end infinite");
        expect(last(svg)).toHaveLength(6);
    });

    it("a program that never pauses is shown as it goes", async () => {
        const output = Array.from({ length: 200 }, (_, index) => ({ atMs: index * 20, text: `${index}\r\n` }));
        const svg = await picture(...output);
        expect(appears(svg, "100<")).toBeGreaterThan(15);
        expect(svg.match(/@keyframes a\d+/g)!.length).toBeLessThan(60);
    });

    it("has a terminal's colors, of either theme", async () => {
        const svg = await picture({
            atMs: 0,
            text: "\u001B[1;36mbold\u001B[0m \u001B[90mgray\u001B[39m \u001B[2mdim\u001B[0m",
        });
        expect(svg).toContain(
            '<tspan class="c6 b">bold</tspan> <tspan class="c7">gray</tspan> <tspan class="d">dim</tspan>',
        );
    });
});

describe.skipIf(process.platform !== "linux" || spawnSync("script", ["--version"]).status !== 0)(
    "`npm run record`",
    () => {
        let folder: string;
        beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "record-"))));
        afterAll(() => rmSync(folder, { recursive: true }));
        const record = (...args: string[]) =>
            spawnSync(process.execPath, ["--import", "tsx", "docs/record.ts", ...args], {
                cwd: project,
                encoding: "utf8",
            });

        it("records a command in a terminal, without the place of the checkout", () => {
            const out = join(folder, "out.svg");
            const { status } = record("--out", out, "--", "sh", "-c", "test -t 1 && pwd");
            expect(status).toBe(0);
            expect(last(readFileSync(out, "utf8"))).toContain("~/chaos-shop");
        });

        it("Ctrl-C reaches the command, which may have something to undo", async () => {
            const command = ["sh", "-c", 'trap "echo undone; exit 9" INT; echo ready; while :; do sleep 0.1; done'];
            const args = ["--import", "tsx", "docs/record.ts", "--out", join(folder, "stopped.svg"), "--", ...command];
            const child = spawn(process.execPath, args, { cwd: project, stdio: ["ignore", "pipe", "ignore"] });
            let printed = "";
            child.stdout.on("data", (text) => {
                if (!printed.includes("ready") && `${printed}${text}`.includes("ready")) child.kill("SIGINT");
                printed += text;
            });
            expect(await new Promise((resolve) => child.on("close", resolve))).toBe(1);
            expect(printed).toContain("undone");
        });

        it("a command that fails leaves no picture", () => {
            const out = join(folder, "none.svg");
            const { status, stderr } = record("--out", out, "--", "sh", "-c", "exit 3");
            expect(status).toBe(1);
            expect(stderr).toContain("failed with exit code 3; nothing is written");
            expect(existsSync(out)).toBe(false);
        });
    },
);

it("the recorded pictures of the pages have at most 300 kB", () => {
    const pictures = execFileSync("git", ["ls-files", "docs/*.svg"], { cwd: project, encoding: "utf8" })
        .trim()
        .split("\n");
    expect(pictures.filter((file) => statSync(join(project, file)).size > 300_000)).toEqual([]);
});
