import { expect, it } from "vitest";
import { inputsFrom } from "../../../../chaos/run/contract";

const environment = { EXPERIMENT_PLAN: '{"run":"1"}', EXPERIMENT_STACK: "local" };

it("a step reads its inputs from its environment", () => {
    const inputs = inputsFrom({ ...environment, DEADLINE_JOB: "job", ATTACKS: '["policy"]' });
    expect(inputs).toMatchObject({ plan: { run: "1" }, stack: "local" });
    expect([inputs.deadlineJob, inputs.attackObjects]).toEqual(["job", ["policy"]]);
});

it("a missing variable is an error that names it, for the inputs that every step needs", () => {
    expect(() => inputsFrom({ EXPERIMENT_STACK: "local" })).toThrow(
        "EXPERIMENT_PLAN is not set: this is a step of an experiment, which an update runs",
    );
});

it("other inputs are read only by the steps that are given them", () => {
    const inputs = inputsFrom(environment);
    expect(() => inputs.targets).toThrow("TARGETS is not set");
});
