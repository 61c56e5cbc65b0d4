import { expect, it } from "vitest";
import { performAll } from "../../../../chaos/actions/perform";
import type { Cluster } from "../../../../chaos/cluster/client";

const cluster = {} as Cluster;
const waits = [1, 2, 3].map((durationMs) => ({ kind: "wait" as const, durationMs }));
const always = async () => true;

it("actions run one after the other, and each is reported", async () => {
    const said: string[] = [];
    const performed = await performAll(waits, cluster, "demo", always, (message) => said.push(message));
    expect(performed.map(({ action, problem }) => [action, problem])).toEqual([
        ["wait 1 ms", undefined],
        ["wait 2 ms", undefined],
        ["wait 3 ms", undefined],
    ]);
    for (const [index, { begunAt }] of performed.slice(1).entries())
        expect(begunAt).toBeGreaterThanOrEqual(performed[index]!.endedAt);
    expect(said).toEqual(["Done: wait 1 ms", "Done: wait 2 ms", "Done: wait 3 ms"]);
});

it("an abort ends a wait and starts no further action; what it cuts short is neither done nor failed", async () => {
    const abort = new AbortController();
    const said: string[] = [];
    const say = (message: string) => {
        said.push(message);
        abort.abort();
    };
    const long = [waits[0]!, { kind: "wait" as const, durationMs: 60_000 }, waits[1]!];
    setTimeout(() => abort.abort(), 100);
    const untilAbort = await performAll(long, cluster, "demo", always, (message) => said.push(message), abort.signal);
    expect(untilAbort.map(({ action, problem }) => [action, problem])).toEqual([["wait 1 ms", undefined]]);
    expect(await performAll(waits, cluster, "demo", always, say, abort.signal)).toEqual([]);
    expect(said).toEqual(["Done: wait 1 ms"]);
});

it("no action starts once the attacks are over, since nothing would undo it", async () => {
    const answers = [true, false];
    const performed = await performAll(
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
