import { PulumiCommand } from "@pulumi/pulumi/automation";
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { BorrowedStack } from "../../../cli/stack";
import { project, StackFile } from "../../../cli/stack-file";
import { fileBackend } from "../../../toolchain/pulumi/environment";
import { cliPath, cliRoot } from "../../../toolchain/pulumi/home";

// The real CLI, where it is installed.
describe.skipIf(!existsSync(cliPath()))("a stack that `npm run` uses", { timeout: 120_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), "chaos-shop-stack-"));
    let cli: PulumiCommand;
    const pulumiIn = async (cwd: string, ...args: string[]) =>
        (await promisify(execFile)(cli.command, args, { cwd })).stdout;
    const pulumi = (...args: string[]) => pulumiIn(project, ...args);
    const stacks = async () =>
        (JSON.parse(await pulumi("stack", "ls", "--json")) as { name: string; current: boolean }[]).map(
            ({ name, current }) => name + (current ? "*" : ""),
        );
    const open = async (name: string) => (await BorrowedStack.open(name, cli)).close();

    beforeAll(async () => {
        cli = await PulumiCommand.get({ root: cliRoot() });
        vi.stubEnv("PULUMI_HOME", folder);
        vi.stubEnv("PULUMI_BACKEND_URL", fileBackend(folder));
        vi.stubEnv("PULUMI_CONFIG_PASSPHRASE", "a passphrase");
        vi.stubEnv("PULUMI_SKIP_UPDATE_CHECK", "true");
    });
    afterAll(() => {
        vi.unstubAllEnvs();
        rmSync(folder, { recursive: true });
    });

    it("is created if it has a file, which stays as it is, and is not selected", async () => {
        await open("local");
        await open("cloud");
        expect(await stacks()).toEqual(["cloud", "local"]);
    });

    it("leaves another one selected, also if it cannot be opened", async () => {
        await pulumi("stack", "select", "cloud");
        await open("local");
        await expect(open("clod")).rejects.toThrow();
        expect(await stacks()).toEqual(["cloud*", "local"]);
    });

    it("is refused if neither the backend nor a file has it, and not created", async () => {
        // In another folder: it writes the stack's file.
        copyFileSync(join(project, "Pulumi.yaml"), join(folder, "Pulumi.yaml"));
        await pulumiIn(folder, "stack", "init", "cloudy", "--no-select");
        // A checkout may have more files.
        await expect(open("clodu")).rejects.toThrow(
            /there is no stack "clodu"; allowed: cloud, cloudy, local.*\. To create it: npx pulumi stack init clodu/,
        );
        await open("cloudy");
        expect(await stacks()).toEqual(["cloud*", "cloudy", "local"]);
    });

    it.each([
        [["command:local:Command"], []],
        [
            ["command:local:Command", "aws:s3:Bucket"],
            ["command:local:Command", "aws:s3:Bucket"],
        ],
    ])("has %j pending after a killed update, and then %j", async (types, after) => {
        const stack = await BorrowedStack.open("local", cli);
        const pending = types.map((type) => {
            const urn = `urn:pulumi:local::chaos-shop::${type}::a`;
            return { type: "creating", resource: { urn, type, custom: true } };
        });
        // As the CLI keeps it: an import has no pending operations.
        const file = join(folder, ".pulumi", "stacks", "chaos-shop", "local.json");
        const kept = JSON.parse(readFileSync(file, "utf8")) as { checkpoint: { latest: object } };
        kept.checkpoint.latest = { ...kept.checkpoint.latest, pending_operations: pending };
        writeFileSync(file, JSON.stringify(kept));
        await stack.forgetPending();
        const { deployment } = JSON.parse(await stack.state()) as {
            deployment: { pending_operations?: { resource: { type: string } }[] };
        };
        expect((deployment.pending_operations ?? []).map(({ resource }) => resource.type)).toEqual(after);
        stack.close();
    });

    it("has the settings that Pulumi itself reads in its file", async () => {
        const file = join(folder, "Pulumi.local.yaml");
        // Each key in one form: of a key in two forms, Pulumi takes now this one and now that.
        const config = "namespace: demo, chaos-shop:variant: four, chaos-shop:config:kube.context: mine, a: 1.10";
        writeFileSync(file, `config: {${config}, b: True, c: 2026-11-21, d: {e: [1]}, f: "", g: {secure: v1:x}}\n`);
        const read = await pulumi("config", "--json", "--stack", "local", "--config-file", file);
        const values = Object.entries(JSON.parse(read) as Record<string, { value?: string; secret: boolean }>);
        const plain = values.filter(([, { secret }]) => !secret).map(([key, { value }]) => [key.split(":")[1], value]);
        expect(new StackFile(file).settings).toEqual(Object.fromEntries(plain));
        expect(plain).toHaveLength(8);
    });
});
