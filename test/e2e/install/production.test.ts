import { execFile, execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { removeNamespaces } from "../../../bench/on-cluster";
import { connect } from "../../support/typed-cluster";
import { fileBackend } from "../../../toolchain/pulumi/environment";
import { cliPath } from "../../../toolchain/pulumi/home";
import { sandboxUp } from "../../../sandbox/node/up";
import { inOrder } from "../../support/in-order";
import { checkout } from "../checkout";
import { itInAll } from "../which-tests";

const run = promisify(execFile);
const namespace = "e2e-production";
let folder: string;
let env: NodeJS.ProcessEnv;
/** Runs Pulumi as a user does who has run the commands that npm start prints. */
const pulumi = (...args: string[]) => {
    const backend = {
        PULUMI_BACKEND_URL: fileBackend(folder),
        PULUMI_CONFIG_PASSPHRASE_FILE: join(folder, ".pulumi", "passphrase"),
    };
    return run(cliPath(), [...args, "--stack", "local", "--non-interactive"], {
        cwd: folder,
        env: { ...env, ...backend },
    });
};

beforeAll(async () => {
    const { kubeconfig, context } = await sandboxUp();
    process.env.KUBECONFIG = kubeconfig;
    await removeNamespaces(connect({ context }), [namespace]);
    folder = checkout();
    const stackFile = join(folder, "Pulumi.local.yaml");
    const settings = readFileSync(stackFile, "utf8");
    writeFileSync(stackFile, settings.replace("config:\n", `config:\n  chaos-shop:namespace: ${namespace}\n`));
    const folders = (process.env.PATH ?? "").split(delimiter);
    const withoutPulumi = folders.filter((folder) => !/pulumi|node_modules/.test(folder)).join(delimiter);
    const ownVariables = Object.entries(process.env).filter(([name]) => !/^(?:PULUMI_|npm_)/.test(name));
    env = { ...Object.fromEntries(ownVariables), PATH: withoutPulumi, KUBECONFIG: kubeconfig };
    await run("npm", ["ci", "--omit=dev", "--no-audit", "--no-fund", "--prefer-offline"], { cwd: folder, env });
});

afterAll(async () => {
    await pulumi("destroy", "--yes", "--skip-preview");
    rmSync(folder, { recursive: true, force: true });
});

it("npm start needs neither development dependencies nor Pulumi on PATH", async () => {
    const { stdout } = await run("npm", ["start"], { cwd: folder, env });
    const [, url] = /The shop is up: (http:\S+)/.exec(stdout) ?? [];
    expect(url).toBeDefined();
    const response = await fetch(url!);
    expect(response.status).toBe(200);
    expect(await response.json()).toHaveProperty("hotDealsResponse.products");
});

itInAll(
    "npm start sees a Service that somebody has deleted, and the command that it prints repairs the shop",
    async () => {
        execFileSync("kubectl", ["delete", "service", "hot-deals", "--namespace", namespace], { env });
        const failed = await run("npm", ["start"], { cwd: folder, env }).then(
            () => {
                throw new Error("npm start succeeded without the Service");
            },
            (error: { code: number; stdout: string }) => error,
        );
        expect(failed.code).toBe(1);
        expect(failed.stdout).toMatch(
            inOrder(
                "nothing to change",
                /The shop is installed, but \/products fails: status 50\d: /,
                `--namespace ${namespace} get deployments,pods,services,networkpolicies`,
                "npx pulumi up --refresh --stack local",
            ),
        );
        await pulumi("config", "set", "--secret", "agent.key", "the-key-of-this-test");
        await pulumi("up", "--yes", "--skip-preview", "--refresh");
        const { stdout } = await run("npm", ["start"], { cwd: folder, env });
        expect(stdout).toContain("The shop is up: ");
    },
);
