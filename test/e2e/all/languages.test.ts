import { type ChildProcess, execFile, execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { project as repository } from "../../../cli/stack-file";
import { locateParts } from "../../../sandbox/parts/locate";
import { sandboxUp } from "../../../sandbox/node/up";
import { preparePulumi } from "../../../toolchain/prepare-pulumi";
import { fileBackend } from "../../../toolchain/pulumi/environment";
import { ensureLanguages } from "../../../toolchain/pulumi/parts";
import { attackPolicies } from "../../support/attack-policies";
import { run } from "../../support/run-program";
import { pack, unpack } from "../../support/tarballs";
import { connect, type TypedCluster } from "../../support/typed-cluster";
import { until } from "../../support/until";

/** Of somebody who has a tarball of the package, and writes no TypeScript. */
const folder = mkdtempSync(join(tmpdir(), "chaos-languages-e2e-"));
const namespace = "e2e-languages";
const pythonNamespace = `${namespace}-python`;
const quietly = ["--non-interactive", "--color", "never"];
const kubectl = join(locateParts().kubectlFolder, "kubectl");
const example = (...path: string[]) => readFileSync(join(repository, "examples", ...path), "utf8");
const moved = (text: string, to = namespace) => text.replace(/\bmessaging\b/g, to);
const hasPython = spawnSync("python3", ["-c", "import ensurepip, venv"]).status === 0;
if (!hasPython) console.log("Skipped: the program in Python, which needs python3 with venv.");

let packageFolder: string;
let pulumi: string;
let context: string;
let cluster: TypedCluster;

beforeAll(async () => {
    const sandbox = await sandboxUp();
    context = sandbox.context;
    Object.assign(process.env, {
        KUBECONFIG: sandbox.kubeconfig,
        PULUMI_BACKEND_URL: fileBackend(folder),
        PULUMI_CONFIG_PASSPHRASE: "only for this test",
    });
    pulumi = (await preparePulumi(repository)).command;
    await ensureLanguages();
    process.env.PATH = `${dirname(pulumi)}:${process.env.PATH}`;
    cluster = connect({});
    packageFolder = unpack((await pack(folder)).path, folder);
});
afterAll(async () => {
    for (const name of [namespace, pythonNamespace])
        await cluster?.core.deleteNamespace({ name }).catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
});

/** A project and its stack. */
class Project {
    constructor(readonly path: string) {}

    /** @param files and their texts, as examples have them */
    static async open(language: string, files: Record<string, string>): Promise<Project> {
        const project = new Project(join(folder, language));
        mkdirSync(project.path);
        for (const [name, text] of Object.entries(files)) writeFileSync(join(project.path, name), text);
        await project.pulumi("stack", "init", "dev");
        await project.set({ context });
        return project;
    }

    async pulumi(...args: string[]): Promise<string> {
        const { stdout, stderr } = await run(pulumi, [...args, ...quietly], { cwd: this.path, env: process.env });
        return stdout + stderr;
    }
    async set(config: Record<string, string>): Promise<void> {
        for (const [key, value] of Object.entries(config))
            await this.pulumi("config", "set", "--stack", "dev", key, value);
    }
    up = () => this.pulumi("up", "--yes", "--skip-preview", "--stack", "dev");
    beginUp = (): ChildProcess =>
        execFile(pulumi, ["up", "--yes", "--skip-preview", "--stack", "dev", ...quietly], { cwd: this.path });
    verdict = async () => (await this.pulumi("stack", "output", "verdict", "--stack", "dev")).trim();
    text = (name: string) => readFileSync(join(this.path, name), "utf8");
    edit = (name: string, change: (text: string) => string) =>
        writeFileSync(join(this.path, name), change(this.text(name)));
}

const attacks = async (within = namespace) => (await attackPolicies(cluster, within)).length;

describe.runIf(hasPython)("a program in Python, with the package from a tarball", () => {
    let project: Project;

    beforeAll(async () => {
        const files = ["Pulumi.yaml", "requirements.txt", "__main__.py"];
        const texts = files.map((name) => [name, moved(example("python", name), pythonNamespace)] as const);
        project = await Project.open("python", Object.fromEntries(texts));
        mkdirSync(join(folder, "nats"));
        writeFileSync(join(folder, "nats", "nats.yaml"), moved(example("nats", "nats.yaml"), pythonNamespace));
        await project.pulumi("package", "add", packageFolder);
        await project.up();
    });

    it("one server cut off: PASSED", async () => {
        await project.set({ enabled: "true" });
        expect(await project.up()).toContain("Proven:");
        expect(await project.verdict()).toBe("PASSED");
    });

    it("two servers cut off: FAILED", async () => {
        await project.set({ serversLost: "2" });
        await project.up();
        expect(await project.verdict()).toBe("FAILED");
    });

    it("a mistake is reported with its place, and nothing begins", async () => {
        await project.set({ serversLost: "0" });
        const failure = await project.up().catch((error: Error) => error.message);
        expect(failure).toContain("attacks.0.radius");
        expect(failure).not.toContain("Proven");
    });

    it("destroy leaves nothing", async () => {
        await project.set({ serversLost: "1" });
        await project.pulumi("destroy", "--yes", "--skip-preview", "--stack", "dev");
        expect(await attacks(pythonNamespace)).toBe(0);
    });
});

describe("a program in YAML, with the package from a tarball", () => {
    let project: Project;
    let good: string;

    beforeAll(async () => {
        execFileSync(kubectl, ["apply", "-f", "-"], { input: moved(example("nats", "nats.yaml")) });
        execFileSync(kubectl, ["rollout", "status", "statefulset/nats", "--namespace", namespace]);
        project = await Project.open("yaml", { "Pulumi.yaml": moved(example("yaml", "Pulumi.yaml")) });
    });

    it("pulumi package add takes the folder, and installs what it needs", async () => {
        expect(await project.pulumi("package", "add", packageFolder)).toContain("Added package Chaos Experiments");
        good = project.text("Pulumi.yaml");
        expect(existsSync(join(packageFolder, "node_modules", "@pulumi", "pulumi"))).toBe(true);
    });

    it("a preview names the pods that the experiment would hit", async () => {
        await project.set({ enabled: "true" });
        const shown = await project.pulumi("preview", "--stack", "dev");
        expect(shown).toMatch(/would hit 1 container of 3 that match .*nats-0\/nats, nats-1\/nats, nats-2\/nats/);
    });

    it("one server cut off: PASSED, with the reports in the project's folder", async () => {
        const said = await project.up();
        expect(said).toContain("Proven:");
        expect(await project.verdict()).toBe("PASSED");
        expect(existsSync(join(project.path, "chaos-reports", "index.html"))).toBe(true);
        expect(await attacks()).toBe(0);
    });

    it("the same program again: nothing runs", async () => {
        expect(await project.pulumi("preview", "--expect-no-changes", "--stack", "dev")).toContain(
            "would not run again",
        );
    });

    it("two servers cut off: FAILED", async () => {
        await project.set({ serversLost: "2" });
        await project.up();
        expect(await project.verdict()).toBe("FAILED");
    });

    it("mistakes of all experiments are reported at once with their places, and nothing begins", async () => {
        project.edit("Pulumi.yaml", (text) =>
            text
                .replace("radius: ${serversLost}", "radius: some")
                .replace("outputs:", second.replaceAll("NAMESPACE", namespace) + "outputs:"),
        );
        const failure = await project.up().catch((error: Error) => error.message);
        expect(failure).toContain('attacks.0.radius: "some" is not a radius');
        expect(failure).toContain("checks: without a check there is no verdict");
        expect(failure).not.toContain("Proven");
    });

    it("what an experiment depends on would delay its end: refused with an attack that stays", async () => {
        project.edit("Pulumi.yaml", () => good.replace("      timeout: 2s", dependent));
        const failure = await project.up().catch((error: Error) => error.message);
        expect(failure).toContain('until: "disabled" excludes dependsOn');
    });

    it("an attack that stays ends before everything else when it is disabled", async () => {
        project.edit("Pulumi.yaml", () => good.replace("      timeout: 2s", staying));
        await project.up();
        expect(await attacks()).toBeGreaterThan(0);
        await project.set({ enabled: "false" });
        const said = await project.up();
        expect(said).toContain("Ended the attacks of nats-without-some-servers");
        expect(said).toContain("Recovered");
        expect(await attacks()).toBe(0);
    });

    it("killed in the middle of an attack: a folder without program and package undoes it", async () => {
        await project.set({ enabled: "true", serversLost: "2" });
        const updating = project.beginUp();
        await until("the attack is there", async () => (await attacks()) > 0, { timeoutMs: 60_000 });
        updating.kill("SIGKILL");
        const elsewhere = new Project(join(folder, "elsewhere"));
        mkdirSync(elsewhere.path);
        cpSync(join(project.path, "Pulumi.dev.yaml"), join(elsewhere.path, "Pulumi.dev.yaml"));
        writeFileSync(join(elsewhere.path, "Pulumi.yaml"), "name: nats-experiment-yaml\nruntime: yaml\n");
        renameSync(packageFolder, `${packageFolder}-gone`);
        await elsewhere.pulumi("cancel", "--yes", "--stack", "dev").catch(() => undefined);
        await elsewhere.pulumi("destroy", "--yes", "--skip-preview", "--stack", "dev");
        expect(await attacks()).toBe(0);
    });
});

const second = `  second:
    type: chaos-experiments:Experiment
    properties:
      enabled: true
      context: \${context}
      hypothesis: Another.
      namespace: NAMESPACE
      attacks:
        - kind: dns
          target: k8s.statefulset=nats
      checks: []
`;

const dependent = `      timeout: 2s
      until: disabled
    options:
      dependsOn:
        - \${first}
  first:
    type: pulumi:pulumi:StackReference
    properties:
      name: organization/nats-experiment-yaml/dev`;

const staying = `      timeout: 2s
      until: disabled
      deadline: 2m`;
