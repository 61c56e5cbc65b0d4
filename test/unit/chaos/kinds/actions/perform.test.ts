import { expect, it } from "vitest";
import { performAll } from "../../../../../chaos/kinds/actions/perform";
import type { Cluster } from "../../../../../chaos/cluster/client";

const context = { cluster: {} as Cluster, namespace: "demo", run: "x-1", endsAt: Infinity };
const waits = [1, 2, 3].map((durationMs) => ({ kind: "wait" as const, durationMs }));
const always = async () => true;

it("actions run one after the other, and each is reported", async () => {
    const said: string[] = [];
    const performed = await performAll(waits, context, always, (message) => said.push(message));
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
    const stoppable = { ...context, signal: abort.signal };
    const said: string[] = [];
    const say = (message: string) => {
        said.push(message);
        abort.abort();
    };
    const long = [waits[0]!, { kind: "wait" as const, durationMs: 60_000 }, waits[1]!];
    setTimeout(() => abort.abort(), 100);
    const untilAbort = await performAll(long, stoppable, always, (message) => said.push(message));
    expect(untilAbort.map(({ action, problem }) => [action, problem])).toEqual([["wait 1 ms", undefined]]);
    expect(await performAll(waits, stoppable, always, say)).toEqual([]);
    expect(said).toEqual(["Done: wait 1 ms"]);
});

it("no action starts once the run is over, since nothing would undo it", async () => {
    const answers = [true, false];
    const performed = await performAll(
        waits,
        context,
        async () => answers.shift()!,
        () => undefined,
    );
    expect(performed.map(({ action, problem }) => [action, problem])).toEqual([
        ["wait 1 ms", undefined],
        ["wait 2 ms", "the run is over"],
    ]);
});
