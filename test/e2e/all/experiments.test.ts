import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scale } from "../../../cli/shop";
import { savedExperiments } from "../../../experiments/saved";
import { verdictOf } from "../../../experiments/story";
import { ExperimentCommand } from "../shop/experiment-command";

let command: ExperimentCommand;
beforeAll(async () => {
    command = await ExperimentCommand.open("e2e-all-experiments");
});
afterAll(() => command.close());

describe("npm run experiment", () => {
    it("PASSED: exit code 0, and the verdict in words", async () => {
        // Long enough for an isolated replica to leave its Service.
        const settings = ["--set", "replicas.hot-deals=3", "--set", "experiment.grace=5s"];
        const { code, stdout } = await command.run("hot-deals-blackhole", ...settings);
        expect(stdout).toMatch(/Verdict\s+PASSED: 100%/);
        expect(code).toBe(0);
        await scale(command.cluster, command.namespace, "hot-deals", 1);
    });

    it("ABORTED: exit code 4, if there is no steady state", async () => {
        await scale(command.cluster, command.namespace, "hot-deals", 0);
        const { code, stdout } = await command.run("--set", "experiment.timeout=2s");
        expect(stdout).toMatch(/Verdict\s+ABORTED: Aborted: there is no steady state/);
        expect(code).toBe(4);
        await scale(command.cluster, command.namespace, "hot-deals", 1);
    });

    it("INCONCLUSIVE: exit code 3, if the attack cannot be proven", async () => {
        // It selects pods only once they are targets, so the run does not make it let go of them.
        const podSelector = { matchExpressions: [{ key: "chaos-experiments/target", operator: "Exists" }] };
        const spec = { podSelector, policyTypes: ["Egress"], egress: [{}] };
        await command.cluster.networking.createNamespacedNetworkPolicy({
            namespace: command.namespace,
            body: { metadata: { name: "allows-egress" }, spec },
        });
        try {
            const { code, stdout } = await command.run("hot-deals-blackhole");
            expect(stdout).toMatch(/Verdict\s+INCONCLUSIVE: Nothing is known: /);
            expect(stdout).toContain("the NetworkPolicy allows-egress allows egress from the target");
            expect(code).toBe(3);
        } finally {
            await command.cluster.networking.deleteNamespacedNetworkPolicy({
                namespace: command.namespace,
                name: "allows-egress",
            });
        }
    });

    describe("--all: every experiment of some lessons, and whether it ended as expected", () => {
        interface Listed {
            name: string;
            lesson: string;
            variant?: string;
        }
        let listed: Listed[];
        beforeAll(async () => {
            listed = JSON.parse((await command.run("--list", "--json")).stdout) as Listed[];
        });

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
        /** The names of what should run, and the rows of what ran. */
        async function runAll(lessons: string[], duration: string, grace: string) {
            const chosen = lessons.flatMap((lesson) => ["--lesson", lesson]);
            const times = ["--set", `experiment.duration=${duration}`, "--set", `experiment.grace=${grace}`];
            const { code, stdout } = await command.run("--all", ...chosen, ...times);
            const fitting = listed.filter(({ lesson, variant }) => lessons.includes(lesson) && variant === undefined);
            const rows = rowsOf(stdout);
            expect(rows.map(({ name }) => name).sort()).toEqual(fitting.map(({ name }) => name).sort());
            expect(await command.isIsolated()).toBe(false);
            return { code, rows };
        }

        it("a dependency that is gone, slow or flaky: all as expected, though most FAILED", async () => {
            const { code, rows } = await runAll(["gone", "slow", "flaky"], "5s", "3s");
            expect(rows.filter(({ compared }) => compared !== "as expected")).toEqual([]);
            expect(rows).toContainEqual({ verdict: "FAILED", name: "hot-deals-blackhole", compared: "as expected" });
            expect(code).toBe(0);
        }, 600_000);

        it("change, and replaced pods: as expected, unless a restart takes longer than the checks", async () => {
            // Longer than the actions of each wait.
            const { code, rows } = await runAll(["change", "pods"], "13s", "4s");
            // How soon new pods are ready depends on the machine.
            const hasNewPods = ({ name }: { name?: string }) => /-(?:rollout|scaled|scaled-in-time)$/.test(name!);
            expect(rows.filter((row) => row.compared !== "as expected" && !hasNewPods(row))).toEqual([]);
            if (rows.every(({ compared }) => compared === "as expected")) expect(code).toBe(0);
        }, 600_000);
    });

    it("the remedy of a lost request: gateway-rollout PASSED with shutdown.delay", async () => {
        const settings = ["--set", "shutdown.delay=5s", "--set", "experiment.duration=12s"];
        const { code, stdout } = await command.run("gateway-rollout", ...settings);
        expect(stdout).toMatch(/Verdict\s+PASSED: 100%/);
        expect(stdout).toMatch(/Lesson\s+Change under load\. Expected: PASSED/);
        expect(code).toBe(0);
    });

    const ofVariantSeven = savedExperiments().filter(({ variant }) => variant === "seven");

    it.each(ofVariantSeven)(
        "$name, of variant seven, has the verdict that its story expects",
        async ({ name, story }) => {
            // Longer than the actions of each wait, and than a killed pod's replacement needs.
            const times = ["--set", "experiment.duration=20s", "--set", "experiment.grace=4s"];
            const { stdout } = await command.run(name, "--set", "variant=seven", ...times);
            const verdict = /Verdict\s+(\w+): /.exec(stdout)![1]!;
            expect([verdictOf(story!), ...(story!.mayPass ? ["PASSED"] : [])]).toContain(verdict);
        },
    );
});
