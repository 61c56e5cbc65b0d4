import { rmSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { checkout, lendPackages } from "../checkout";
import { ExperimentCommand } from "../shop/experiment-command";

// Its exercises change the gateway's source, and other tests run at the same time.
const folder = checkout();
let command: ExperimentCommand;
beforeAll(async () => {
    lendPackages(folder);
    command = await ExperimentCommand.open("e2e-workshop", folder);
});
afterEach(() => command.interrupt());
afterAll(async () => {
    await command.close();
    rmSync(folder, { recursive: true, force: true });
});

it("every exercise, done as its page says, has the verdicts of the page", async () => {
    const { code, stdout, stderr } = await command.workshop("--check", "--set", "agent.enabled=false");
    const runs = stdout.slice(stdout.indexOf("The page and these runs"));
    expect(runs).not.toContain("the page has");
    expect(code, runs + stderr).toBe(0);
}, 1_800_000);
