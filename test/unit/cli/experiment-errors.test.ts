import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { project } from "../../../cli/stack-file";

const folder = mkdtempSync(join(tmpdir(), "chaos-shop-experiment-"));
const kubeconfig = join(folder, "kubeconfig");
writeFileSync(kubeconfig, JSON.stringify({ contexts: [], clusters: [], users: [] }));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs `npm run experiment` where there is no cluster. */
function experiment(...args: string[]): Promise<{ code: unknown; stderr: string }> {
    const env = { ...process.env, KUBECONFIG: kubeconfig };
    const command = ["--import", "tsx", "cli/experiment.ts", "--stack", "cloud", ...args];
    return new Promise((resolve) =>
        execFile(process.execPath, command, { cwd: project, env }, (error, _, stderr) =>
            resolve({ code: error?.code ?? 0, stderr }),
        ),
    );
}

it("`npm run experiment` reports an error if it cannot begin, in the files too", async () => {
    const [junit, summary] = [join(folder, "ci", "junit.xml"), join(folder, "ci", "summary.md")];
    const { code, stderr } = await experiment("hot-deals-kill", "--junit", junit, "--summary", summary);
    expect(code).toBe(1);
    expect(stderr).toContain("kubeconfig");
    expect(readFileSync(junit, "utf8")).toMatch(
        /classname="chaos\.hot-deals-kill"[^>]*><error type="no verdict" message="[^"]*kubeconfig/,
    );
    expect(readFileSync(summary, "utf8")).toContain("1 no verdict");
});

it("`npm run experiment` refuses a file that cannot be written before it looks for a cluster", async () => {
    const { code, stderr } = await experiment("--all", "--junit", folder, "--summary", join(folder, "not-written.md"));
    expect({ code, stderr }).toEqual({
        code: 1,
        stderr:
            `--junit ${folder}: is there, but is not a regular file; name another one\n` +
            "See: npm run experiment -- --help\n",
    });
    expect(existsSync(join(folder, "not-written.md"))).toBe(false);
});
