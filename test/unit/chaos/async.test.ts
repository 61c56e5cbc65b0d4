import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { inTurns } from "../../../chaos/async";

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
