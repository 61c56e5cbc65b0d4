import { buildSync } from "esbuild";
import { execFileSync, spawnSync } from "node:child_process";
import { load } from "js-yaml";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { reportOptions } from "../../../chaos/cli/report";
import { experimentOptions } from "../../../cli/experiment-options";
import { settings } from "../../../components/configuration/settings";
import { PULUMI_CLI_VERSION } from "../../../toolchain/pulumi/versions";
import { scratchFolder } from "../../support/scratch";

const project = resolve(__dirname, "..", "..", "..");
const page = readFileSync(join(project, "docs", "ci.md"), "utf8");

/** The page's YAML blocks, and the documents in them. */
const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text]) => text!);
const documents = blocks.map((text) => load(text) as Record<string, any>);
const github = documents.find(({ jobs }) => jobs !== undefined)!.jobs.experiment;
const gitlab = documents.find(({ chaos }) => chaos !== undefined)!.chaos;

const scripts = [
    ...github.steps.map(({ run }: any) => run ?? ""),
    ...gitlab.script,
    ...gitlab.after_script,
] as string[];
const shown = [...page.matchAll(/^ {4}(\S.*)$/gm)].map(([, command]) => command!);
/** The arguments of all commands on the page that begin in a way. */
const argumentsOf = (start: string) =>
    [...scripts, ...shown]
        .filter((command) => command.startsWith(start))
        .map((command) => command.slice(start.length).trim().split(/\s+/));

const saved = () => readdirSync(join(project, "experiments", "saved")).map((file) => file.replace(/\.ts$/, ""));
const runs = argumentsOf("npm run experiment --").map((args) => experimentOptions(args, saved) as any);
const stepsWith = (text: string) => github.steps.filter((step: any) => JSON.stringify(step).includes(text));

const ownWorkflow = () => readFileSync(join(project, ".github", "workflows", "ci.yml"), "utf8");
const ownPipeline = () => readFileSync(join(project, ".gitlab-ci.yml"), "utf8");

/** Gives what GitHub's parser of workflows does not accept. Node.js 20 does not load its schema: a bundle has it. */
function openParser(): (workflow: string) => string[] {
    const folder = mkdtempSync(join(tmpdir(), "chaos-shop-parser-"));
    try {
        const outfile = join(folder, "parser.cjs");
        const contents = 'export { NoOperationTraceWriter, parseWorkflow } from "@actions/workflow-parser"';
        const stdin = { contents, resolveDir: project };
        buildSync({ stdin, outfile, bundle: true, platform: "node", format: "cjs" });
        const parser = createRequire(__filename)(outfile) as typeof import("@actions/workflow-parser");
        const { NoOperationTraceWriter, parseWorkflow } = parser;
        return (content) => {
            const { context } = parseWorkflow({ name: "workflow.yml", content }, new NoOperationTraceWriter());
            return context.errors.getErrors().map(String);
        };
    } finally {
        rmSync(folder, { recursive: true });
    }
}

/** Gives what GitLab's schema does not accept. A program for Node.js 22 or newer has it. */
function openSchema(folder: string): (pipeline: string) => string[] {
    const program = createRequire(__filename).resolve("gitlab-ci-local");
    const missing = "Set.prototype.union ??= function (other) { return new Set([...this, ...other]) }";
    const shim = `data:text/javascript,${encodeURIComponent(missing)}`;
    // It reads the pipeline of a repository.
    execFileSync("git", ["init", "--quiet", folder]);
    return (content) => {
        writeFileSync(join(folder, ".gitlab-ci.yml"), content);
        const args = ["--import", shim, program, "--list"];
        const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
        if (!/json schema validated|Invalid/.test(stdout + stderr)) throw new Error(stdout + stderr);
        return [...stderr.matchAll(/• ('.*)/g)].map(([, mistake]) => mistake!);
    };
}

describe("continuous integration of this repository", () => {
    it("runs .ci/run on GitHub and on GitLab", () => {
        const { test } = load(ownPipeline()) as Record<string, any>;
        const { jobs } = load(ownWorkflow()) as Record<string, any>;
        expect(test.script).toEqual([".ci/run"]);
        expect(test.timeout).toBe(`${jobs.test["timeout-minutes"]}m`);
        expect(jobs.test.steps.at(-1).run).toMatch(/ \.ci\/run$/);
    });
});

describe("docs/ci.md", () => {
    it("has the workflow of GitHub, and the job of GitLab", () => expect(documents).toHaveLength(2));

    const folder = scratchFolder();
    it("has a job that GitLab's own schema accepts, as this repository's", { timeout: 60_000 }, () => {
        const mistakesIn = openSchema(folder);
        const [pipeline] = blocks.filter((text) => text.startsWith("chaos:"));
        const both = `${ownPipeline()}\n${pipeline}`;
        expect(mistakesIn(both)).toEqual([]);
        expect(mistakesIn(both.replace("timeout: 90m", "timeot: 90m"))).toHaveLength(1);
    });

    it("has workflows that GitHub's own parser accepts", { timeout: 60_000 }, () => {
        const mistakesIn = openParser();
        const [workflow] = blocks.filter((text) => text.includes("\njobs:"));
        expect(mistakesIn(workflow!)).toEqual([]);
        expect(mistakesIn(ownWorkflow())).toEqual([]);
        expect(mistakesIn(workflow!.replace("timeout-minutes: 45", "timeout-minute: 45"))).toHaveLength(1);
    });

    it("runs experiments with options and settings that exist, and both reports", () => {
        expect(runs).toHaveLength(3);
        for (const { files, settings: set } of runs) {
            expect(files).toEqual({ junit: "reports/junit.xml", summary: "reports/summary.md" });
            expect(Object.keys(set).filter((key) => !(key in settings))).toEqual([]);
        }
    });

    it("makes reports from journals with options that exist", () => {
        const [args] = argumentsOf("npm run report --");
        const at = args!.map((arg) => (arg === '"$CI_JOB_STARTED_AT"' ? "2026-11-21T10:15:00Z" : arg));
        expect(reportOptions(at)).toMatchObject({ mistakes: [], paths: ["reports"] });
    });

    it("uses the Pulumi CLI that the project installs", () => {
        expect([github.env.PULUMI_VERSION, gitlab.variables.PULUMI_VERSION]).toEqual([
            PULUMI_CLI_VERSION,
            PULUMI_CLI_VERSION,
        ]);
    });

    it("undoes, shows and keeps everything on GitHub whatever happened before", () => {
        const names = github.steps.map(({ name, run }: any) => name ?? run);
        const undo = names.indexOf("Undo what a canceled run left");
        expect(undo).toBe(names.indexOf("Run the experiment") + 1);
        for (const step of github.steps.slice(undo)) expect(step.if).toMatch(/^always\(\)/);
        expect(github.steps[undo].run).toBe("npm start");
        expect(stepsWith("GITHUB_STEP_SUMMARY")[0].run).toContain(runs[0].files.summary);
        expect(stepsWith("upload-artifact")[0].with.path).toBe("reports");
    });

    it("undoes and keeps everything on GitLab whatever happened before", () => {
        expect(gitlab.after_script.at(-1)).toMatch(/^npx pulumi up --yes .*--stack cloud$/);
        expect(gitlab.artifacts).toMatchObject({
            when: "always",
            paths: ["reports"],
            reports: { junit: runs[0].files.junit },
        });
    });

    it("says that its workflows were not run", () =>
        expect(page).toContain("**The workflows on this page were not run.**"));
});
