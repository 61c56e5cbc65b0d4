import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { ExperimentCommand } from "../shop/experiment-command";

let command: ExperimentCommand;
beforeAll(async () => {
    command = await ExperimentCommand.open("e2e-workshop");
});
afterEach(() => command.interrupt());
afterAll(() => command.close());

it("every exercise, done as its page says, has the verdicts of the page", async () => {
    const { code, stdout, stderr } = await command.workshop("--check", "--set", "agent.enabled=false");
    expect(stdout.slice(stdout.indexOf("The page and these runs"))).not.toContain("the page has");
    expect(code, stderr).toBe(0);
}, 1_800_000);
