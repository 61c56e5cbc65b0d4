import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { journalSchema } from "../../../chaos/report/journal-schema";
import { scale } from "../../../cli/shop";
import { project } from "../../../cli/stack-file";
import { type NamedExperiment, savedExperiments } from "../../../experiments/saved";
import { differenceFrom } from "../../../experiments/story";
import { ExperimentCommand } from "../shop/experiment-command";

/** Saved experiments whose verdicts other tests compare: in which test, or on which page that a test follows. */
const elsewhere: Record<string, string> = {
    "departments-scaled-in-time": "test/e2e/experiments/model.test.ts",
    "gateway-dns-loss": "test/e2e/experiments/policed.test.ts",
    "gateway-rollout": "docs/workshop.md",
    "hot-deals-blackhole": "test/e2e/shop/story.test.ts",
    "hot-deals-during-rollout": "test/trials/kinds.ts",
    "hot-deals-flaky": "docs/workshop.md",
    "hot-deals-without-database": "test/e2e/experiments/policed.test.ts",
    "message-broker-blackhole": "test/e2e/shop/orders.test.ts",
};
const saved = savedExperiments();
const allAtOnce = saved.filter(({ story, variant }) => story?.lesson === "slow" && variant === undefined);
const alone = saved.filter((experiment) => !(experiment.name in elsewhere) && !allAtOnce.includes(experiment));

let command: ExperimentCommand;
beforeAll(async () => {
    command = await ExperimentCommand.open("e2e-all-experiments");
});
afterEach(async () => {
    await command.interrupt();
    expect(await command.isIsolated()).toBe(false);
});
afterAll(() => command.close());

/** Long enough for the actions and waits of each, and for the replacement of killed pods. */
function timesOf({ variant, story }: NamedExperiment): string[] {
    const isLong = variant === "seven" || story?.lesson === "change" || story?.lesson === "pods";
    const [duration, grace] = isLong ? ["20s", "5s"] : ["5s", "4s"];
    return ["--set", `experiment.duration=${duration}`, "--set", `experiment.grace=${grace}`];
}

describe("npm run experiment", () => {
    it("PASSED: exit code 0, and the verdict in words", async () => {
        // Long enough for an isolated replica to leave its Service.
        const settings = ["--set", "replicas.hot-deals=3", "--set", "experiment.grace=6s"];
        const { code, stdout } = await command.run("hot-deals-blackhole", ...settings);
        expect(stdout).toMatch(/Verdict\s+PASSED: 100%/);
        expect(code).toBe(0);
        await scale(command.cluster, command.namespace, "hot-deals", 1);
    });

    it("--all: every experiment of a lesson, and that it ended as expected, though most FAILED", async () => {
        const { code, stdout } = await command.run("--all", "--lesson", "slow", ...timesOf(allAtOnce[0]!));
        const rows = stdout.split("\nVerdicts\n")[1]!.trim().split("\n");
        const compared = rows.map((row) => {
            const [verdict, , name, difference] = row.trim().split(/\s{2,}/);
            return { verdict, name, difference };
        });
        const expected = {
            "database-slow": "FAILED",
            "hot-deals-busy": "PASSED",
            "hot-deals-proxied": "PASSED",
            "hot-deals-slow": "FAILED",
            "my-session-slow": "PASSED",
        };
        expect(compared).toEqual(
            Object.entries(expected).map(([name, verdict]) => ({ verdict, name, difference: "as expected" })),
        );
        expect(Object.keys(expected)).toEqual(allAtOnce.map(({ name }) => name));
        expect(code).toBe(0);
    });

    it.each(Object.entries(elsewhere))("%s has its verdict compared in %s", (name, file) => {
        expect(saved.map((one) => one.name)).toContain(name);
        expect(readFileSync(join(project, file), "utf8")).toMatch(
            new RegExp(`"${name}"|npm run experiment -- ${name}\\s`),
        );
    });

    const of = (wanted: NamedExperiment["variant"]) => alone.filter(({ variant }) => variant === wanted);

    it.each([...of(undefined), ...of("seven")])("$name has the verdict that its story expects", async (experiment) => {
        const { name, variant, story, actions = [] } = experiment;
        const shop = variant === undefined ? [] : ["--set", `variant=${variant}`];
        const { stdout, stderr } = await command.run(name, "--json", ...shop, ...timesOf(experiment));
        expect(stdout, stderr).toMatch(/^{/);
        const { conclusion } = journalSchema.parse(JSON.parse(stdout));
        const { failing = [], mayPass = false } = story!;
        // How soon new pods are ready depends on the machine: a restart may outlast the checks.
        if (conclusion.code === "action-failed" && actions.some(({ kind }) => kind === "rollout")) return;
        expect(differenceFrom({ failing, mayPass }, conclusion), conclusion.reason).toBeUndefined();
    });
});
