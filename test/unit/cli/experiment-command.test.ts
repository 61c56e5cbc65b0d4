import { expect, it } from "vitest";
import { commandOf } from "../../../cli/experiment-runs";

it("a run is done again by the command that has done it, with its settings, as another run", () => {
    const changes = {
        "experiment.name": "hot-deals-blackhole",
        "experiment.run": "2026-11-29T12:00:00.000Z",
        "experiment.target": "k8s.deployment=hot-deals|toys",
    };
    const options = "--set 'experiment.target=k8s.deployment=hot-deals|toys'";
    expect(commandOf(changes, "local")).toBe(`npm run experiment -- hot-deals-blackhole ${options}`);
    expect(commandOf({ "experiment.run": "3" }, "mine")).toBe("npm run experiment -- --stack mine");
});
