import { expect, it } from "vitest";
import { perform } from "../../../experiments/actions/perform";
import type { Cluster } from "../../../shared/kubernetes";

const cluster = {} as Cluster;
const waits = [1, 2, 3].map((durationMs) => ({ kind: "wait" as const, durationMs }));
const always = async () => true;

it("actions are done one after the other, each told of", async () => {
    const said: string[] = [];
    const performed = await perform(waits, cluster, "demo", always, (message) => said.push(message));
    expect(performed.map(({ action, problem }) => [action, problem])).toEqual([
        ["wait 1 ms", undefined],
        ["wait 2 ms", undefined],
        ["wait 3 ms", undefined],
    ]);
    for (const [index, { begunAt }] of performed.slice(1).entries())
        expect(begunAt).toBeGreaterThanOrEqual(performed[index]!.endedAt);
    expect(said).toEqual(["Done: wait 1 ms", "Done: wait 2 ms", "Done: wait 3 ms"]);
});

it("nothing is done any more once the attacks are over: nobody would undo it", async () => {
    const answers = [true, false];
    const performed = await perform(
        waits,
        cluster,
        "demo",
        async () => answers.shift()!,
        () => undefined,
    );
    expect(performed.map(({ action, problem }) => [action, problem])).toEqual([
        ["wait 1 ms", undefined],
        ["wait 2 ms", "the attacks are over"],
    ]);
});
