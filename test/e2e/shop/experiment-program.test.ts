import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scale } from "../../../cli/shop";
import { BorrowedStack } from "../../../cli/stack";
import { project } from "../../../cli/stack-file";
import { removeNamespaces } from "../../../bench/cluster";
import { chooseRoute } from "../../../chaos/checks/route";
import { journalSchema } from "../../../chaos/report/journal-schema";
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
    await removeNamespaces(cluster, [namespace]);
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

    describe("--all: every experiment of some lessons that fits the variant, and whether it ended as expected", () => {
        /** Verdict, name and comparison of each run. */
        const rowsOf = (stdout: string) =>
            stdout
                .split("\nVerdicts\n")[1]!
                .trim()
                .split("\n")
                .map((row) => {
                    const [verdict, , name, compared] = row.trim().split(/\s{2,}/);
                    return { verdict, name, compared };
                });
        const fitting = async (...lessons: string[]) => {
            const { stdout } = await run("--list", "--json", ...lessons);
            const listed = JSON.parse(stdout) as { name: string; variant?: string }[];
            return listed.filter(({ variant }) => variant === undefined).map(({ name }) => name);
        };

        it("a dependency that is gone, slow or flaky: all as expected, though most FAILED", async () => {
            const lessons = ["gone", "slow", "flaky"].flatMap((lesson) => ["--lesson", lesson]);
            const short = ["--set", "experiment.duration=5s", "--set", "experiment.grace=3s"];
            const { code, stdout } = await run("--all", ...lessons, ...short);
            const rows = rowsOf(stdout);
            expect(rows.map(({ name }) => name).sort()).toEqual((await fitting(...lessons)).sort());
            expect(rows.filter(({ compared }) => compared !== "as expected")).toEqual([]);
            expect(rows).toContainEqual({ verdict: "FAILED", name: "hot-deals-blackhole", compared: "as expected" });
            expect(code).toBe(0);
            expect(await isolated()).toBe(false);
        }, 600_000);

        it("change, and replaced pods: as expected, unless a restart takes longer than the checks", async () => {
            const lessons = ["change", "pods"].flatMap((lesson) => ["--lesson", lesson]);
            // Longer than the actions of each wait.
            const short = ["--set", "experiment.duration=13s", "--set", "experiment.grace=4s"];
            const { code, stdout } = await run("--all", ...lessons, ...short);
            const rows = rowsOf(stdout);
            expect(rows.map(({ name }) => name).sort()).toEqual((await fitting(...lessons)).sort());
            // How soon new pods are ready depends on the machine.
            const hasNewPods = ({ name }: { name?: string }) => /-(?:rollout|scaled|scaled-in-time)$/.test(name!);
            expect(rows.filter((row) => row.compared !== "as expected" && !hasNewPods(row))).toEqual([]);
            if (rows.every(({ compared }) => compared === "as expected")) expect(code).toBe(0);
            expect(await isolated()).toBe(false);
        }, 600_000);

        it("the remedy of a lost request: gateway-rollout PASSED with shutdown.delay", async () => {
            const { code, stdout } = await run(
                "gateway-rollout",
                "--set",
                "shutdown.delay=5s",
                "--set",
                "experiment.duration=12s",
            );
            expect(stdout).toMatch(/Verdict\s+PASSED: 100%/);
            expect(stdout).toMatch(/Lesson\s+Change under load\. Expected: PASSED/);
            expect(code).toBe(0);
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

    it("a mistake in the settings of an experiment is told before anything is touched", async () => {
        const { code, stdout } = await run("gateway-scaled");
        expect(stdout).toMatch(/Not begun: experiment\.duration is "2s".*set it with --set experiment\.duration=VALUE/);
        expect(code).toBe(1);
    });

    it("leaves the stack's file unchanged", () => expect(readFileSync(stackFile, "utf8")).toBe(before));

    it("leaves the shop healthy, with nothing isolated", async () => {
        const route = await chooseRoute(cluster, gatewayOf(namespace));
        expect(await askProducts(cluster, route, 5_000)).toMatchObject({ good: true });
        expect(await isolated()).toBe(false);
    });
});
