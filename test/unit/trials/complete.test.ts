import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { complete } from "../../../test/trials/complete";
import type { Kind, Run, Trial } from "../../../test/trials/kind";
import { randomOf } from "../../../test/trials/random";
import type { Shop } from "../../../test/trials/shop";

const never = new AbortController().signal;
const trial: Trial = {
    kind: "one-replica",
    denied: "drop",
    round: 1,
    random: () => 0,
    signal: never,
    cancel: never,
    anotherShop: () => Promise.reject(new Error("there is one shop")),
};
const kind: Kind = {
    name: "one-replica",
    meaning: "the only replica is attacked",
    shape: { hotDeals: 1, gateway: "LoadBalancer" },
    allowed: { FAILED: /hot-deals/ },
};
const conclusion = { verdict: "FAILED", reason: "hot-deals did not answer", journal: "run.json" } as Conclusion;

/** What was done, in order. */
let done: string[];
let left: string[];
/** A shop whose attack is proven at once, and whose updates do nothing else. */
function shopThat(enable: () => Promise<Conclusion>): Shop {
    const stack = { said: "" };
    return {
        stack,
        enable: async () => {
            done.push("enable");
            stack.said = "Proven: it is cut off";
            return enable();
        },
        disable: async () => (done.push("disable"), []),
        leftovers: async () => left,
        brokenBecause: async () => [],
        attackLeft: async () => left,
    } as unknown as Shop;
}
beforeEach(() => {
    done = [];
    left = [];
});

describe("a complete trial", () => {
    const soon = () => sleep(100).then(() => conclusion);
    const disturbing = async ({ moment, afterwards }: Run) => {
        afterwards(async () => done.push("undo the first"));
        await moment();
        done.push("disturb");
        afterwards(async () => done.push("undo the second"));
        return { saw: "it" };
    };

    it("enables the experiment, disturbs it, puts that right, and disables it", async () => {
        const seen = await complete(shopThat(soon), { ...kind, trouble: disturbing }, trial);
        expect(done).toEqual(["enable", "disturb", "undo the second", "undo the first", "disable"]);
        expect(seen).toMatchObject({
            outcome: "FAILED",
            saw: "it",
            problems: [],
            leftovers: [],
            journals: ["run.json"],
        });
    });

    it("tells what is left, and which verdict is wrong", async () => {
        left = ["blackhole"];
        const wrong = async () => ({ ...conclusion, verdict: "PASSED" }) as Conclusion;
        const seen = await complete(shopThat(wrong), kind, trial);
        expect(seen.leftovers).toEqual(["blackhole"]);
        expect(seen.problems).toEqual(["PASSED instead of FAILED: hot-deals did not answer"]);
    });

    it("puts everything right though the update fails", async () => {
        const failing = () => sleep(100).then(() => Promise.reject(new Error("the engine is gone")));
        const seen = await complete(shopThat(failing), { ...kind, trouble: disturbing }, trial);
        expect(done.slice(-2)).toEqual(["undo the first", "disable"]);
        expect(seen.problems).toEqual(["none instead of FAILED: the engine is gone"]);
    });

    it("leaves a trouble until the experiment is undone, if that must be possible under it", async () => {
        const losing = async ({ afterwards, moment }: Run) => {
            await moment();
            afterwards(async () => done.push("find the node"), { undone: true });
            return { saw: "it" };
        };
        await complete(shopThat(soon), { ...kind, trouble: losing }, trial);
        expect(done).toEqual(["enable", "disable", "find the node"]);
    });

    it("is disturbed within the window that its kind has set", async () => {
        const longer = { "experiment.grace": "100ms", "experiment.duration": "1500ms" };
        const left: number[] = [];
        const disturbing = async ({ moment, leftMs }: Run) => {
            await moment({ afterGrace: true, leaveMs: 100 });
            left.push(leftMs());
            return { saw: "it" };
        };
        const slow = () => sleep(2_200).then(() => conclusion);
        const late = { ...trial, random: () => 0.999 };
        await complete(shopThat(slow), { ...kind, settings: longer, trouble: disturbing }, late);
        expect(left[0]).toBeLessThan(110);
        expect(left[0]).toBeGreaterThan(0);
    });

    it("says if the run ended before it was disturbed", async () => {
        const late = { ...trial, random: () => 0.9 };
        const seen = await complete(shopThat(soon), { ...kind, trouble: disturbing }, late);
        expect(seen.problems).toEqual(["it was not disturbed: the run ended before"]);
    });
});

it("random moments are the same again for the same seed, and others for another", () => {
    const numbers = (seed: string) => Array.from({ length: 5 }, randomOf(seed));
    expect(numbers("1/one-replica/drop/1")).toEqual(numbers("1/one-replica/drop/1"));
    expect(numbers("1/one-replica/drop/2")).not.toEqual(numbers("1/one-replica/drop/1"));
    for (const number of numbers("1")) expect(number >= 0 && number < 1).toBe(true);
});
