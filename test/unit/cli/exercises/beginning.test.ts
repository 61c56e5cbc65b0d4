import { expect, it } from "vitest";
import { disturbing } from "../../../../cli/exercises/preparation";

it("settings that would make another exercise are those of the experiment, and others than it begins with", () => {
    const set = { "experiment.radius": "all", "replicas.hot-deals": "3", "replicas.gateway": "1", variant: "seven" };
    expect(disturbing(set)).toEqual(["experiment.radius", "replicas.hot-deals"]);
});
