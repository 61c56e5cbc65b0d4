import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { journalSchema } from "../../../chaos/report/journal-schema";
import { chooseRoute } from "../../../chaos/kinds/checks/route";
import { project } from "../../../cli/stack-file";
import { gatewayOf } from "../../../components/shop/gateway";
import { askProducts } from "../../../experiments/products";
import { until } from "../../support/until";
import { type Ended, ExperimentCommand } from "./experiment-command";

const stackFile = join(project, "Pulumi.local.yaml");
const before = readFileSync(stackFile, "utf8");
let command: ExperimentCommand;
beforeAll(async () => {
    command = await ExperimentCommand.open("e2e-experiment-program");
});
afterEach(() => command.interrupt());
afterAll(() => command.close());

describe("npm run experiment", () => {
    it("FAILED: exit code 2, everything undone, a page, and only the journal on standard output", async () => {
        const { code, stdout, stderr } = await command.run("hot-deals-blackhole", "--json");
        expect(code).toBe(2);
        const journal = journalSchema.parse(JSON.parse(stdout));
        expect(journal.conclusion).toMatchObject({ name: "hot-deals-blackhole", verdict: "FAILED" });
        expect(journal.plan.command).toBe(
            "npm run experiment -- hot-deals-blackhole --set namespace=e2e-experiment-program " +
                "--set experiment.duration=2s --set experiment.grace=2s --set experiment.interval=250ms",
        );
        expect(journal.recovery!.recoveredAfterMs).toBeLessThan(60_000);
        expect(journal.readiness.map(({ pod }) => pod)).toContain(journal.attacks[0]!.targets[0]!.pod);
        expect(stderr).toMatch(/Verdict\s+FAILED: 0%/);
        const page = /Report\s+(reports\/\S+\.html)/.exec(stderr)![1]!;
        expect(readFileSync(join(project, page), "utf8")).toContain("<svg");
        expect(readFileSync(join(project, "reports", "index.html"), "utf8")).toContain(page.replace("reports/", ""));
        expect(await command.isIsolated()).toBe(false);
    });

    describe("interrupted in the middle of an attack, and again while it is undone", () => {
        let ended: Ended;
        beforeAll(async () => {
            const { child, said, ended: ending } = command.begin("--set", "experiment.duration=60s");
            await until("the attack has begun", () => command.isIsolated(), { timeoutMs: 120_000 });
            child.kill("SIGINT");
            await until("it is being undone", async () => /Interrupted[\s\S]*Undoing it[\s\S]*✔/.test(said.stdout));
            // As Ctrl-C in a terminal: the engine and all that it runs get it, too.
            process.kill(-child.pid!, "SIGINT");
            ended = await ending;
        });

        it("undoes everything, waits for recovery, and exits with 130", async () => {
            expect(ended.stdout).toMatch(/Interrupted[\s\S]*Recovered: \/products succeeded again/);
            expect(ended.code).toBe(130);
            expect(await command.isIsolated()).toBe(false);
        });

        it("goes on undoing at the second interrupt, and says what happens if it is killed now", () => {
            expect(ended.stdout).toMatch(
                /Interrupted[\s\S]*Still undoing it\. If you kill this program now, the attack ends at its deadline/,
            );
        });
    });

    it("leaves the stack's file unchanged", () => expect(readFileSync(stackFile, "utf8")).toBe(before));

    it("leaves the shop healthy, with nothing isolated", async () => {
        const route = await chooseRoute(command.cluster, gatewayOf(command.namespace));
        expect(await askProducts(command.cluster, route, 5_000)).toMatchObject({ good: true });
        expect(await command.isIsolated()).toBe(false);
    });
});
