import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { labels } from "../../../chaos/cluster/labels";
import type { Kind, Trial } from "../../../test/trials/kind";
import type { Shop } from "../../../test/trials/shop";
import { attackProven, loadSent, updateKilled } from "../../../test/trials/update-killed";

const never = new AbortController().signal;
const trial: Trial = {
    kind: "runner-killed",
    denied: "drop",
    round: 1,
    random: () => 0.5,
    signal: never,
    cancel: never,
    anotherShop: () => Promise.reject(new Error("there is one shop")),
};
const kind: Kind = {
    name: "runner-killed",
    meaning: "the update is killed",
    shape: { hotDeals: 1, gateway: "LoadBalancer" },
    settings: { "experiment.grace": "100ms", "experiment.duration": "1500ms" },
    allowed: { none: /^$/ },
};

/** What was done, in order. */
let done: string[];
/** Milliseconds from when the attack was proven, or the load's pod ran, until the update was killed. */
let killedAfterMs: number;
beforeEach(() => {
    done = [];
    killedAfterMs = NaN;
});

/** A shop whose update proves its attack, or sends its load, after a while, and ends after another. */
function shopWhoseUpdate(does: { begins: "attack" | "load" | "nothing"; afterMs: number; endsAfterMs: number }): Shop {
    let begunAt = NaN;
    let ended: number | null | undefined;
    const hasBegun = () => !Number.isNaN(begunAt);
    const begin = () => {
        void sleep(does.afterMs).then(() => (begunAt = performance.now()));
        return {
            printed: () => (does.begins === "attack" && hasBegun() ? "Proven: it is cut off" : "Updating"),
            ended: sleep(does.endsAfterMs).then(() => (ended ??= 0)),
            kill: async () => {
                killedAfterMs = performance.now() - begunAt;
                done.push("kill");
            },
        };
    };
    const listNamespacedPod = async ({ labelSelector }: { labelSelector: string }) => {
        const isThere = labelSelector === labels.beside && does.begins === "load" && hasBegun();
        return { items: isThere ? [{ status: { phase: "Running" } }] : [] };
    };
    return {
        stack: {
            begin,
            namespace: "trials-1",
            cluster: { core: { listNamespacedPod } },
            set: () => undefined,
            cancel: async () => void done.push("cancel"),
        },
        enabling: () => ({}),
        attackLeft: async () => (done.length > 0 && !done.includes("cancel") ? ["blackhole"] : []),
        disable: async () => (done.push("disable"), []),
        leftovers: async () => [],
        brokenBecause: async () => [],
    } as unknown as Shop;
}

describe("an update is killed", () => {
    it("at any moment, if its kind says nothing else", async () => {
        const shop = shopWhoseUpdate({ begins: "nothing", afterMs: 0, endsAfterMs: 50 });
        const { problems, saw } = await updateKilled()(shop, kind, trial);
        expect(done).toEqual(["cancel", "disable"]);
        expect([problems, saw]).toEqual([[], expect.stringContaining("ended by itself")]);
    });

    it.each([
        ["attack", attackProven, 0.5, 200],
        // A load is sent for 5 s before the attack.
        ["load", loadSent, 0.05, 330],
    ] as const)(
        "once its %s is on, while it still is, and what was on is said",
        async (begins, once, share, afterMs) => {
            const shop = shopWhoseUpdate({ begins, afterMs: 300, endsAfterMs: 10_000 });
            const { problems, saw } = await updateKilled(once)(shop, kind, { ...trial, random: () => share });
            expect(killedAfterMs).toBeGreaterThan(afterMs - 50);
            expect(killedAfterMs).toBeLessThan(afterMs + 300);
            expect(done).toEqual(["kill", "cancel", "disable"]);
            expect([problems, saw]).toEqual([[], expect.stringMatching(/on: blackhole; undone by the next update$/)]);
        },
    );

    it("is no trial of that if it ends before, and is undone all the same", async () => {
        const shop = shopWhoseUpdate({ begins: "nothing", afterMs: 0, endsAfterMs: 50 });
        await expect(updateKilled(attackProven)(shop, kind, trial)).rejects.toThrow(
            "the update ended before the attack was proven: Updating",
        );
        expect(done).toEqual(["cancel", "disable"]);
    });

    it("is no trial of that if it ends before it is killed", async () => {
        const shop = shopWhoseUpdate({ begins: "attack", afterMs: 0, endsAfterMs: 100 });
        const { problems } = await updateKilled(attackProven)(shop, kind, trial);
        expect(problems).toContain("the update ended before it was killed");
    });
});
