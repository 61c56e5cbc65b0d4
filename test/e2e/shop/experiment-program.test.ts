import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scale } from "../../../cli/shop";
import { BorrowedStack } from "../../../cli/stack";
import { project } from "../../../cli/stack-file";
import { chooseRoute } from "../../../chaos/checks/route";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { type Journal, journalSchema } from "../../../chaos/report/journal-schema";
import { gatewayOf } from "../../../components/shop/gateway";
import { askProducts } from "../../../experiments/products";
import { sandboxUp } from "../../../sandbox/node/up";
import { preparePulumi } from "../../../toolchain/prepare-pulumi";
import { fileBackend } from "../../../toolchain/pulumi/environment";
import { type Cluster, connect } from "../../../chaos/cluster/client";
import { destroyStack, quick } from "./support";
import { attackPolicies } from "../../support/attack-policies";
import { until } from "../../support/until";

const namespace = "e2e-experiment-program";
const stackFile = join(project, "Pulumi.local.yaml");
const before = readFileSync(stackFile, "utf8");
let cluster: Cluster;
let backend: string;
beforeAll(async () => {
    const { kubeconfig, context } = await sandboxUp();
    backend = mkdtempSync(join(tmpdir(), "chaos-shop-e2e-"));
    Object.assign(process.env, {
        KUBECONFIG: kubeconfig,
        PULUMI_BACKEND_URL: fileBackend(backend),
        PULUMI_CONFIG_PASSPHRASE: "only for this test",
    });
    cluster = connect({ context });
});
afterAll(async () => {
    const stack = await BorrowedStack.open("local", await preparePulumi(project));
    stack.set({ "kube.context": cluster.kubeconfig.getCurrentContext(), namespace });
    await destroyStack(stack);
    stack.close();
    rmSync(backend, { recursive: true, force: true });
});

interface Ended {
    code: number | null;
    stdout: string;
    stderr: string;
}

/** `npm run experiment -- …`, in a namespace of the test's own, with short times. */
function begin(...options: string[]): {
    child: ChildProcess;
    said: { stdout: string; stderr: string };
    ended: Promise<Ended>;
} {
    const settings = Object.entries({ namespace, ...quick }).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
    const child = spawn(process.execPath, ["--import", "tsx", "cli/experiment.ts", ...settings, ...options], {
        cwd: project,
        detached: true,
    });
    const said = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"] as const)
        child[stream].setEncoding("utf8").on("data", (text: string) => (said[stream] += text));
    return { child, said, ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, ...said }))) };
}

const run = (...options: string[]) => begin(...options).ended;

async function isolated(): Promise<boolean> {
    return (await attackPolicies(cluster, namespace)).length > 0;
}

describe("npm run experiment", () => {
    it("FAILED: exit code 2, everything undone, and only the journal on standard output", async () => {
        const { code, stdout, stderr } = await run("hot-deals-blackhole", "--json");
        expect(code).toBe(2);
        const journal = journalSchema.parse(JSON.parse(stdout));
        expect(journal.conclusion).toMatchObject({ name: "hot-deals-blackhole", verdict: "FAILED" });
        expect(journal.recovery!.recoveredAfterMs).toBeLessThan(60_000);
        expect(journal.readiness.map(({ pod }) => pod)).toContain(journal.attacks[0]!.targets[0]!.pod);
        expect(stderr).toMatch(/Verdict\s+FAILED: 0%/);
        expect(await isolated()).toBe(false);
    });

    it("PASSED: exit code 0, the verdict in words, and a page", async () => {
        await scale(cluster, namespace, "hot-deals", 3);
        // Long enough for an isolated replica to leave its Service.
        const { code, stdout } = await run("hot-deals-blackhole", "--set", "experiment.grace=5s");
        expect(stdout).toMatch(/Verdict\s+PASSED: 100%/);
        expect(code).toBe(0);
        const page = /Report\s+(reports\/\S+\.html)/.exec(stdout)![1]!;
        expect(readFileSync(join(project, page), "utf8")).toContain("<svg");
        expect(readFileSync(join(project, "reports", "index.html"), "utf8")).toContain(page.replace("reports/", ""));
    });

    it("ABORTED: exit code 4, if there is no steady state", async () => {
        await scale(cluster, namespace, "hot-deals", 0);
        const { code, stdout } = await run("--set", "experiment.timeout=2s");
        expect(stdout).toMatch(/Verdict\s+ABORTED: Aborted: there is no steady state/);
        expect(code).toBe(4);
        await scale(cluster, namespace, "hot-deals", 1);
    });

    it("INCONCLUSIVE: exit code 3, if the attack cannot be proven", async () => {
        // It selects pods only once they are targets, so the run does not make it let go of them.
        const podSelector = { matchExpressions: [{ key: "chaos-experiments/target", operator: "Exists" }] };
        const spec = { podSelector, policyTypes: ["Egress"], egress: [{}] };
        await cluster.networking.createNamespacedNetworkPolicy({
            namespace,
            body: { metadata: { name: "allows-egress" }, spec },
        });
        try {
            const { code, stdout } = await run("hot-deals-blackhole");
            expect(stdout).toMatch(/Verdict\s+INCONCLUSIVE: Nothing is known: /);
            expect(stdout).toContain("the NetworkPolicy allows-egress allows egress from the target");
            expect(code).toBe(3);
        } finally {
            await cluster.networking.deleteNamespacedNetworkPolicy({ namespace, name: "allows-egress" });
        }
    });

    describe("--all", () => {
        const window = ["--set", "experiment.duration=8s", "--set", "experiment.grace=1s"];
        let ended: Ended;
        let listed: string[];
        /** The verdict of each experiment. */
        let verdicts: Record<string, string>;
        let conclusions: Record<string, Conclusion>;
        beforeAll(async () => {
            const lines = (await run("--list")).stdout.trim().split("\n");
            listed = lines.filter((line) => !line.includes("(variant seven)")).map((line) => line.split(" ")[0]!);
            ended = await run("--all", "--json", ...window);
            const table = ended.stderr.split("\nVerdicts\n")[1]!.match(/^ {2}\S.*$/gm)!;
            verdicts = Object.fromEntries(
                table.map((row) => /^(not run|\w+)[\d.% ]+ {2}(\S+)/.exec(row.trim())!.slice(1).reverse()),
            );
            const journals = JSON.parse(ended.stdout) as Journal[];
            conclusions = Object.fromEntries(journals.map(({ conclusion }) => [conclusion.name, conclusion]));
        }, 900_000);

        it("runs every experiment that fits the variant, and prints a table of verdicts", () => {
            expect(Object.keys(verdicts)).toEqual(listed);
            // A restart may take longer than these short checks.
            const indefinite = listed.filter((name) => !["PASSED", "FAILED"].includes(verdicts[name]!));
            expect(indefinite.filter((name) => !name.endsWith("-rollout"))).toEqual(["gateway-scaled"]);
        });

        it.each([
            ["toys-blackhole", "blackhole", "toys-bestseller"],
            ["fashion-blackhole", "blackhole", "fashion-bestseller"],
            ["hot-deals-blackhole", "blackhole", "hot-deals"],
            ["database-blackhole", "blackhole", "database"],
            ["gateway-dns-loss", "dns", "gateway"],
        ])("%s: FAILED, because the shop has no fallback", (name, attack, workload) => {
            expect(conclusions[name]).toMatchObject({
                attack,
                verdict: "FAILED",
                targets: [expect.stringContaining(`${namespace}/${workload}-`)],
                requests: 36,
            });
        });

        it("tells a mistake of one experiment, and runs the others", () => {
            expect(verdicts["gateway-scaled"]).toBe("not run");
            expect(ended.stderr).toMatch(/experiment\.duration is "8s"/);
        });

        it("ends with the highest exit code, and undoes everything", async () => {
            const codes = Object.values(verdicts).map((verdict) => ({ FAILED: 2, INCONCLUSIVE: 3 })[verdict] ?? 0);
            expect(ended.code).toBe(Math.max(...codes));
            expect(await isolated()).toBe(false);
        });

        it("leaves the mistaken one to be run with a longer window", async () => {
            const { code, stdout } = await run("gateway-scaled", "--set", "experiment.duration=13s");
            // The gateway ends at once: whether a request is lost is chance.
            expect(stdout).toMatch(/Verdict\s+(PASSED|FAILED): [\d.]+% of \d+ requests .* without an attack/);
            expect([0, 2]).toContain(code);
        });
    });

    describe("interrupted in the middle of an attack, and again while it is undone", () => {
        let ended: Ended;
        beforeAll(async () => {
            const { child, said, ended: ending } = begin("--set", "experiment.duration=60s");
            await until("the attack has begun", isolated);
            child.kill("SIGINT");
            await until("it is being undone", async () => /Interrupted[\s\S]*Undoing it[\s\S]*✔/.test(said.stdout));
            // As Ctrl-C in a terminal: the engine and all that it runs get it, too.
            process.kill(-child.pid!, "SIGINT");
            ended = await ending;
        });

        it("undoes everything, waits for recovery, and exits with 130", async () => {
            expect(ended.stdout).toMatch(/Interrupted[\s\S]*Recovered: \/products succeeded again/);
            expect(ended.code).toBe(130);
            expect(await isolated()).toBe(false);
        });

        it("goes on undoing at the second interrupt, and says what happens if it is killed now", () => {
            expect(ended.stdout).toMatch(
                /Interrupted[\s\S]*Still undoing it\. If you kill this program now, the attack ends at its deadline/,
            );
        });
    });

    it("leaves the stack's file unchanged", () => expect(readFileSync(stackFile, "utf8")).toBe(before));

    it("leaves the shop healthy, with nothing isolated", async () => {
        const route = await chooseRoute(cluster, gatewayOf(namespace));
        expect(await askProducts(cluster, route, 5_000)).toMatchObject({ good: true });
        expect(await isolated()).toBe(false);
    });
});
