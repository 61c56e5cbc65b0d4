import { execFile } from "node:child_process";
import {
    appendFileSync,
    cpSync,
    mkdirSync,
    mkdtempSync,
    readFileSync,
    renameSync,
    rmSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { attackPolicies } from "../../support/attack-policies";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { project as repository } from "../../../cli/stack-file";
import { connect, type Cluster } from "../../../chaos/cluster/client";
import { labels } from "../../../chaos/cluster/labels";
import { sandboxUp } from "../../../sandbox/node/up";
import { preparePulumi } from "../../../toolchain/prepare-pulumi";
import { fileBackend } from "../../../toolchain/pulumi/environment";
import { until } from "../../support/until";

const run = promisify(execFile);
const namespace = "messaging";
const target = "k8s.statefulset=nats,k8s.namespace=messaging";

let cluster: Cluster;
/** Holds the project, its backend and the tarball. */
let folder: string;
/** The project of somebody who has only the tarball and the example. */
let project: string;
let pulumi: string;

/** Runs the Pulumi CLI. @returns what it printed */
async function pulumiIn(cwd: string, ...args: string[]): Promise<string> {
    const env = { ...process.env, PATH: [dirname(pulumi), process.env.PATH].join(delimiter) };
    const { stdout, stderr } = await run(pulumi, [...args, "--non-interactive", "--color", "never", "--stack", "dev"], {
        cwd,
        env,
        maxBuffer: 64 * 1024 * 1024,
    });
    return stdout + stderr;
}
const set = (key: string, value: string) => pulumiIn(project, "config", "set", key, value);
const up = () => pulumiIn(project, "up", "--yes", "--skip-preview");
const verdict = async () => (await pulumiIn(project, "stack", "output", "verdict")).trim();

const policies = async () => (await attackPolicies(cluster, namespace)).length;
const labeled = async () =>
    (await cluster.core.listNamespacedPod({ namespace, labelSelector: labels.target })).items.length;

beforeAll(async () => {
    const { kubeconfig, context } = await sandboxUp();
    folder = mkdtempSync(join(tmpdir(), "chaos-experiments-e2e-"));
    pulumi = (await preparePulumi(repository)).command;
    Object.assign(process.env, {
        KUBECONFIG: kubeconfig,
        PULUMI_BACKEND_URL: fileBackend(folder),
        PULUMI_CONFIG_PASSPHRASE: "only for this test",
    });
    cluster = connect({ context });
    project = join(folder, "project");
    cpSync(join(repository, "examples", "nats"), project, { recursive: true });
    const packed = await run("npm", ["pack", "--json", "--pack-destination", folder], {
        cwd: join(repository, "chaos"),
        maxBuffer: 16 * 1024 * 1024,
    });
    const [{ filename, size }] = JSON.parse(packed.stdout) as [{ filename: string; size: number }];
    expect(size).toBeLessThan(1_000_000);
    const manifest = join(project, "package.json");
    const { dependencies, ...rest } = JSON.parse(readFileSync(manifest, "utf8"));
    dependencies["pulumi-chaos-experiments"] = `file:${join(folder, filename)}`;
    writeFileSync(manifest, JSON.stringify({ ...rest, dependencies }));
    await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline"], { cwd: project });
    await run(pulumi, ["stack", "init", "dev", "--non-interactive"], { cwd: project });
    await set("context", context);
    await up();
});
afterAll(async () => {
    if (project === undefined) return;
    await pulumiIn(project, "cancel", "--yes").catch(() => undefined);
    await pulumiIn(project, "destroy", "--yes", "--skip-preview").catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
});

describe("three NATS servers, by the package as npm packs it", () => {
    it("a preview names the pods that the experiment would hit, and shows its parts", async () => {
        await set("enabled", "true");
        const shown = await pulumiIn(project, "preview");
        expect(shown).toMatch(
            new RegExp(`would hit 1 container of 3 that match ${target}, .*nats-0/nats, nats-1/nats, nats-2/nats`),
        );
        expect(shown).toContain("nats-without-some-servers-check");
        expect(await policies()).toBe(0);
    });

    it("one server cut off: PASSED", async () => {
        const said = await up();
        expect(await verdict()).toBe("PASSED");
        expect(said).toMatch(/To stop this experiment at any time: kubectl .* delete lease chaos-experiment/);
        expect([await policies(), await labeled()]).toEqual([1, 1]);
    });

    it("another folder and another version of the package run nothing again, and keep the verdict", async () => {
        const moved = join(folder, "elsewhere");
        renameSync(project, moved);
        project = moved;
        const installed = join(project, "node_modules", "pulumi-chaos-experiments", "dist", "programs");
        for (const program of ["steps.js", "deadline.js"]) appendFileSync(join(installed, program), "\n// newer\n");
        const said = await up();
        expect(said).not.toContain("Proven");
        expect(said).not.toMatch(/creating|deleting|replac/);
        expect(await verdict()).toBe("PASSED");
        expect([await policies(), await labeled()]).toEqual([1, 1]);
    });

    it("two servers cut off: FAILED, after the first run was undone", async () => {
        await set("serversLost", "2");
        const said = await up();
        expect(said).toContain("Recovered");
        expect(await verdict()).toBe("FAILED");
    });

    it("disabled: undone before anything else, and the servers have recovered", async () => {
        await set("enabled", "false");
        const said = await up();
        expect(said).toContain("Ended the attacks of nats-without-some-servers");
        expect(await verdict()).toBe("disabled");
        expect([await policies(), await labeled()]).toEqual([0, 0]);
    });

    it("killed in the middle of an attack: an empty folder with the state undoes it", async () => {
        await set("enabled", "true");
        const running = execFile(pulumi, ["up", "--yes", "--skip-preview", "--stack", "dev", "--non-interactive"], {
            cwd: project,
            env: { ...process.env, PATH: [dirname(pulumi), process.env.PATH].join(delimiter) },
        });
        await until("the attack has begun", async () => (await policies()) > 0, { timeoutMs: 60_000 });
        running.kill("SIGKILL");
        const empty = join(folder, "empty");
        mkdirSync(empty);
        for (const file of ["Pulumi.yaml", "Pulumi.dev.yaml"]) cpSync(join(project, file), join(empty, file));
        await pulumiIn(empty, "cancel", "--yes");
        await pulumiIn(empty, "destroy", "--yes", "--skip-preview");
        const gone = cluster.core.readNamespace({ name: namespace }).then(
            ({ status }) => status?.phase === "Terminating",
            () => true,
        );
        expect(await gone).toBe(true);
    });
});
