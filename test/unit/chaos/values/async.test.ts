import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { inTurns, settling } from "../../../../chaos/values/async";

it("at most as many are under way as allowed, and the results are in the items' order", async () => {
    let underWay = 0;
    let most = 0;
    const work = async (ms: number) => {
        most = Math.max(most, ++underWay);
        await sleep(ms);
        underWay--;
        return ms;
    };
    expect(await inTurns([30, 10, 20, 0], 2, work)).toEqual([30, 10, 20, 0]);
    expect(most).toBe(2);
});

it("a failure is thrown when nothing is under way any more, and nothing is begun after it", async () => {
    const done: number[] = [];
    const work = async (item: number) => {
        if (item === 0) throw new Error("the first");
        await sleep(10);
        done.push(item);
    };
    await expect(inTurns([0, 1, 2, 3], 2, work)).rejects.toThrow("the first");
    expect(done).toEqual([1]);
    await sleep(30);
    expect(done).toEqual([1]);
});

it("what can never settle rejects, the innermost of several first, and no other does", async () => {
    const before = process.listenerCount("beforeExit");
    const never = new Promise<never>(() => undefined);
    const undone: string[] = [];
    const inner = async () => {
        await settling(() => never).catch(() => sleep(5));
        undone.push("inner");
        return never;
    };
    const outer = settling(inner).catch(() => undone.push("outer"));
    expect(await settling(async () => 1)).toBe(1);
    await expect(settling(() => Promise.reject(new Error("other")))).rejects.toThrow("other");
    process.emit("beforeExit", 0);
    await sleep(10);
    expect(undone).toEqual(["inner"]);
    process.emit("beforeExit", 0);
    await outer;
    expect(undone).toEqual(["inner", "outer"]);
    expect(process.listenerCount("beforeExit")).toBe(before);
});
