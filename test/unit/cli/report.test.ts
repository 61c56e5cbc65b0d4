import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { report } from "../../../cli/report";

const kept = "departments-rollout-20261126T130918893Z-59adf516.json";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "chaos-shop-report-"))));
afterEach(() => rmSync(folder, { recursive: true }));

/** @returns the exit code, and what was printed */
async function printed(args: string[], reports = folder): Promise<[code: number, text: string]> {
    const lines: string[] = [];
    const say = (line: string) => void lines.push(line);
    const code = await report(args, { log: say, error: say }, reports);
    return [code, lines.join("\n")];
}

it("`npm run report` reads the journals of the shop's runs if none are named", async () => {
    copyFileSync(resolve(__dirname, "../../../docs/gallery", kept), join(folder, kept));
    const [code, text] = await printed([]);
    expect([code, text]).toEqual([0, expect.stringMatching(/^1 \w+\n/)]);
    expect(await printed([folder], join(folder, "none"))).toEqual([code, text]);
    expect(await printed(["--run", "no such"])).toEqual([1, `no run named no such was found in ${folder}`]);
});

it("`npm run report` says how to make the first run", async () => {
    const none = join(folder, "none");
    expect(await printed([], none)).toEqual([
        1,
        `no run was found: there is no ${none}/ yet. Run an experiment (npm run experiment), or name journals ` +
            "or folders of them",
    ]);
    expect(await printed(["--jnuit", "a.xml"], none)).toEqual([2, expect.stringContaining("--jnuit")]);
    expect(await printed(["--help"], none)).toEqual([0, expect.stringContaining("Usage: ")]);
});
