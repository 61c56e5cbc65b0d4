import { expect, it } from "vitest";
import { disturbing, settingsToBegin } from "../../../../cli/exercises/preparation";

it("an exercise begins with the stack's settings and those of --set: what a plain `pulumi preview` has", () => {
    expect(settingsToBegin({ namespace: "mine" })).toEqual({ namespace: "mine", "experiment.enabled": "false" });
});

it("settings that would make another exercise are those of the experiment, and others than it begins with", () => {
    const set = { "experiment.radius": "all", "replicas.hot-deals": "3", "replicas.gateway": "1", variant: "seven" };
    expect(disturbing(set)).toEqual(["experiment.radius", "replicas.hot-deals"]);
});
