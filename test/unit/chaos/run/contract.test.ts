import { spawnSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { type Input, inputFrom, inputVariables, parsed, printed } from "../../../../chaos/run/contract";

/** What is known about some targets. The ids are random, as in a cluster. */
const targets = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
        namespace: "messaging",
        pod: `server-${randomBytes(5).toString("hex")}`,
        uid: randomUUID(),
        container: "server",
        containerId: `containerd://${randomBytes(32).toString("hex")}`,
        address: `10.244.${index >> 8}.${index & 255}`,
        ports: [8080],
    }));

it("a short result is JSON, which people can read in a state", () => {
    const result = { attacks: targets(20) };
    expect(JSON.parse(printed(result))).toEqual(result);
});

const inputWith = (count: number) =>
    ({
        plan: { run: "1" },
        stack: "local",
        targets: { attacks: targets(count) },
        deadlineJob: "job",
    }) as unknown as Input<"check">;

it.each([1, 100, 800, 3_000])("a process can be given what is known about %i targets", (count) => {
    const input = inputWith(count);
    const env = { ...process.env, ...inputVariables(input) };
    const { error, stdout } = spawnSync(process.execPath, ["-p", "JSON.stringify(process.env)"], {
        env,
        encoding: "utf8",
        maxBuffer: Infinity,
    });
    expect(error).toBeUndefined();
    expect(inputFrom(JSON.parse(stdout))).toEqual(input);
});

it("a step can print what is known about 800 targets, and no more than its next command can be given", () => {
    const result = { attacks: targets(800) };
    expect(parsed(printed(result))).toEqual(result);
    expect(() => printed({ attacks: targets(3_000) })).toThrow(/the targets are too many .*Lower the radius/);
});

it("a missing variable is an error that names it", () =>
    expect(() => inputFrom({})).toThrow(
        "EXPERIMENT_INPUT is not set: this is a step of an experiment, which an update runs",
    ));

it("a step that an earlier version has recorded without a result is named, with what to do", () => {
    expect(() => parsed("")).toThrow(/^a step of the experiment ended without a result.* Disable the experiment/);
    expect(parsed(printed({ a: 1 }))).toEqual({ a: 1 });
});
