import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runProgram } from "../../support/run-program";
import { scratchFolder } from "../../support/scratch";

const folder = scratchFolder();
const kubeconfig = join(folder, "kubeconfig");
writeFileSync(kubeconfig, JSON.stringify({ contexts: [], clusters: [], users: [] }));

it("`npm run experiment` reports an error if it cannot begin, in the files too", async () => {
    const [junit, summary] = [join(folder, "ci", "junit.xml"), join(folder, "ci", "summary.md")];
    const args = ["--stack", "cloud", "hot-deals-kill", "--junit", junit, "--summary", summary];
    const { code, stderr } = await runProgram("experiment", args, { ...process.env, KUBECONFIG: kubeconfig });
    expect(code).toBe(1);
    expect(stderr).toContain("kubeconfig");
    expect(readFileSync(junit, "utf8")).toMatch(
        /classname="chaos\.hot-deals-kill"[^>]*><error type="no verdict" message="[^"]*kubeconfig/,
    );
    expect(readFileSync(summary, "utf8")).toContain("1 no verdict");
});
