import { describe, expect, it } from "vitest";
import { parseCpu, parseMemory } from "../../../../../../chaos/kinds/attacks/stress/amounts";
import {
    isCpuTaken,
    isMemoryTaken,
    nextBytes,
    type StressArgs,
    type Taken,
    takenOf,
    whyUnfit,
    whyUnfitTogether,
    workersFor,
} from "../../../../../../chaos/kinds/attacks/stress/taken";
import type { Reading } from "../../../../../../chaos/kinds/attacks/stress/readings";
import type { Tool } from "../../../../../../chaos/kinds/attacks/stress/stress-programs";

const mib = 2 ** 20;

/** Of a container with 200m of CPU and 200 MiB on a node of two cores with 4 GiB. */
function reading({ used = 50 * mib, cpu = 0.2, limit = 200 * mib } = {}): Reading {
    return {
        version: 1,
        at: 10,
        cpu: { used: 1, limit: cpu, periods: 0, throttled: 0 },
        memory: { used, limit },
        node: { cores: 2, time: 1, busy: 1, available: 4_096 * mib },
    };
}
const limitless: Reading = { ...reading(), cpu: { used: 1, periods: 0, throttled: 0 }, memory: { used: 50 * mib } };
/** @param own what the program of the attack uses of that */
const rate = (cores: number, own = 0) => ({ seconds: 2, cores, throttled: 0, own });
/** With that much in the memory of the program. */
const holding = (bytes: number, now: Reading): Reading => ({ ...now, own: { cpu: 0, bytes } });

describe("amounts", () => {
    it.each<readonly [string, object | undefined]>([
        ["2", { of: 2 }],
        ["500m", { of: 0.5 }],
        ["0.25", { of: 0.25 }],
        ["80%", { share: 0.8 }],
        ...["", "0", "-1", "2 cores", "1e3", "101%", "0%", "2000"].map((text) => [text, undefined] as const),
    ])("of CPU: %j", (text, amount) => {
        expect(parseCpu(text)).toEqual(amount);
    });

    it.each<readonly [string, object | undefined]>([
        ["200Mi", { of: 200 * mib }],
        ["1Gi", { of: 1_024 * mib }],
        ["20M", { of: 20_000_000 }],
        ["80%", { share: 0.8 }],
        ...["200", "1k", "200MB", "200mi", ""].map((text) => [text, undefined] as const),
    ])("of memory: %j", (text, amount) => {
        expect(parseMemory(text)).toEqual(amount);
    });

    it("are of the container's limits if they are shares", () => {
        expect(takenOf({ cpu: "50%", memory: "10%" }, reading())).toEqual({ cores: 0.1, bytes: 20 * mib });
        expect(takenOf({ cpu: "2", memory: "30Mi" }, reading())).toEqual({ cores: 2, bytes: 30 * mib });
        expect(takenOf({ memory: "2M" }, reading())).toEqual({ bytes: mib });
    });
});

it.each([
    [0.16, { workers: 1, permille: 160 }],
    [1, { workers: 1, permille: 1_000 }],
    [1.5, { workers: 2, permille: 750 }],
    [0, { workers: 0, permille: 0 }],
])("%d cores are divided among processes", (cores, wanted) => {
    expect(workersFor({ cores }, reading())).toEqual(wanted);
});

it("no more processes burn than the node has cores", () => {
    expect(workersFor({ cores: 1_024 }, reading())).toEqual({ workers: 2, permille: 1_000 });
});

describe("CPU shows as soon as the program uses most of", () => {
    it.each([
        ["what is taken", { cores: 0.1 }, 0.09, 0.07],
        ["the container's limit, which is less", { cores: 2 }, 0.17, 0.15],
    ])("%s", (_, taken, some, tooLittle) => {
        expect(isCpuTaken(taken, rate(some, some), reading())).toBe(true);
        expect(isCpuTaken(taken, rate(tooLittle, tooLittle), reading())).toBe(false);
    });

    it("the node's cores, without a limit", () => {
        expect(isCpuTaken({ cores: 8 }, rate(1.7, 1.7), limitless)).toBe(true);
    });
});

describe("CPU that the application uses", () => {
    const wide = reading({ cpu: 1.5 });
    it("shows no attack, also if it uses more than before", () => {
        expect(isCpuTaken({ cores: 1 }, rate(0.85, 0.01), wide)).toBe(false);
        expect(isCpuTaken({ cores: 1 }, rate(1.4, 0.01), wide)).toBe(false);
    });

    it("hides none, also if it uses less than before", () => {
        expect(isCpuTaken({ cores: 1 }, rate(0.9, 0.85), wide)).toBe(true);
    });

    it("leaves the program a part of a full container: then both are throttled", () => {
        expect(isCpuTaken({ cores: 1 }, rate(1.45, 0.4), wide)).toBe(true);
        expect(isCpuTaken({ cores: 1 }, rate(0.9, 0.4), wide)).toBe(false);
    });
});

describe("memory", () => {
    /** Grows as the Job has it grow: each reading shows what is held. @param app what the application uses */
    function grow(taken: Taken, limit = 200 * mib, app = 50 * mib, tool: Tool = "perl") {
        let [held, most, takenAfter] = [0, 0, Infinity];
        for (let turn = 0; turn < 60; turn++) {
            const seen = holding(held, reading({ limit, used: app + held }));
            most = Math.max(most, app + held);
            if (isMemoryTaken(taken, held, seen)) takenAfter = Math.min(turn, takenAfter);
            held = nextBytes(taken, held, seen, tool);
        }
        return { held, most, takenAfter };
    }

    it("is taken in steps", () => {
        expect(nextBytes({ bytes: 100 * mib }, 0, reading(), "perl")).toBe(10 * mib);
        expect(grow({ bytes: 100 * mib }).held).toBe(100 * mib);
    });

    it.each<[number, Tool, number]>([
        [800, "perl", 10],
        [4_000, "python3", 10],
        [14_000, "node", 30],
        [480, "sh", 30],
    ])("of %d MiB is there in time with %s", (some, tool, turns) => {
        expect(grow({ bytes: some * mib }, 16_384 * mib, 50 * mib, tool).takenAfter).toBeLessThanOrEqual(turns);
    });

    it.each([200, 64, 1_024])("stops short of a limit of %d MiB, at any moment", (limit) => {
        const { held, most, takenAfter } = grow({ bytes: limit * mib }, limit * mib, 20 * mib);
        expect(takenAfter).toBeLessThan(16);
        expect(most).toBeLessThanOrEqual(limit * mib - Math.max(0.05 * limit, 8) * mib);
        expect(held).toBeGreaterThan((limit - 20) * mib - Math.max(0.05 * limit, 8) * mib - 2 * mib);
    });

    it("exceeds the limit only if something is to be killed", () => {
        expect(grow({ bytes: 300 * mib, untilKilled: true }).most).toBeGreaterThan(200 * mib);
    });

    it("is given back when the application takes more", () => {
        expect(nextBytes({ bytes: 100 * mib }, 100 * mib, reading({ used: 195 * mib }), "perl")).toBe(95 * mib);
    });

    it("leaves 512 MiB to the node, also without a limit", () => {
        const low: Reading = { ...limitless, node: { available: 515 * mib } };
        expect(nextBytes({ bytes: 1_024 * mib, untilKilled: true }, 0, low, "perl")).toBe(3 * mib);
    });

    it("shows once the container uses what is held, and no more is to come", () => {
        const taken = { bytes: 100 * mib };
        const all = 100 * mib;
        expect(isMemoryTaken(taken, all, holding(all, reading({ used: 150 * mib })))).toBe(true);
        expect(isMemoryTaken(taken, all, holding(all, reading({ used: 50 * mib })))).toBe(false);
        expect(isMemoryTaken(taken, 50 * mib, holding(50 * mib, reading({ used: 100 * mib })))).toBe(false);
    });

    it("does not show by what the application uses: the program must have it", () => {
        const used = reading({ used: 150 * mib });
        expect(isMemoryTaken({ bytes: 100 * mib }, 100 * mib, used)).toBe(false);
        expect(isMemoryTaken({ bytes: 100 * mib }, 100 * mib, holding(8 * mib, used))).toBe(false);
    });

    it("that is to exceed the limit does not show by itself: something must be killed", () => {
        const taken = { bytes: 200 * mib, untilKilled: true };
        expect(isMemoryTaken(taken, 200 * mib, reading({ used: 200 * mib }))).toBe(false);
    });

    it("does not show where the node has no room for it", () => {
        const seen = (held: number): Reading => ({
            ...holding(held, reading({ limit: 1_024 * mib, used: 50 * mib + held })),
            node: { available: 512 * mib },
        });
        const taken = { bytes: 800 * mib };
        expect(isMemoryTaken(taken, 4 * mib, seen(4 * mib))).toBe(false);
        expect(isMemoryTaken(taken, 640 * mib, seen(640 * mib))).toBe(true);
    });

    it("shows at the limit, too, where no more can be taken", () => {
        expect(isMemoryTaken({ bytes: 200 * mib }, 140 * mib, holding(140 * mib, reading({ used: 190 * mib })))).toBe(
            true,
        );
    });
});

describe("before the attack it is refused", () => {
    const why = (wanted: Parameters<typeof whyUnfit>[0], now = reading(), before = rate(0.01), tool: Tool = "perl") =>
        whyUnfit(wanted, before, now, tool)?.what;

    it("to take a share of a limit that is not there, whatever is accepted", () => {
        expect(why({ cpu: "80%", neighbours: "accept" }, limitless)).toBe(
            'has no CPU limit, of which cpu "80%" is a share',
        );
        expect(why({ memory: "80%", neighbours: "accept" }, limitless)).toContain("has no memory limit");
    });

    it("to stress a container without a limit, unless its neighbours may suffer", () => {
        expect(why({ cpu: "1" }, limitless)).toBe("has no CPU limit, so other pods of its node may suffer");
        expect(why({ memory: "20Mi" }, limitless)).toBe("has no memory limit, so other pods of its node may suffer");
        expect(why({ cpu: "1", memory: "20Mi", neighbours: "accept" }, limitless)).toBeUndefined();
    });

    it("to take all CPU of its node within a limit that allows it", () => {
        const wide = (limit: number) => reading({ cpu: limit });
        expect(why({ cpu: "100%" }, wide(64))).toBe(
            "has a CPU limit of 64 cores on a node with 2 cores, so other pods of its node would suffer",
        );
        expect(why({ cpu: "4" }, wide(2))).toContain("other pods of its node");
        expect(why({ cpu: "1" }, wide(2))).toBeUndefined();
        expect(why({ memory: "20Mi" }, wide(64))).toBeUndefined();
        expect(why({ cpu: "100%", neighbours: "accept" }, wide(64))).toBeUndefined();
    });

    it("to take together what their node has", () => {
        const together = (wanted: StressArgs, ...on: Reading[]) =>
            whyUnfitTogether(on.map((before) => ({ attack: wanted, before })))?.what;
        const some = reading({ cpu: 0.8 });
        expect(together({ cpu: "2" }, some, some)).toBeUndefined();
        expect(together({ cpu: "2" }, some, some, some)).toBe(
            "would use 2.4 cores of its 2, so other pods of the node would suffer",
        );
        expect(together({ cpu: "2", neighbours: "accept" }, some, some, some)).toBeUndefined();
        const low: Reading = { ...some, node: { cores: 2, available: 700 * mib } };
        expect(together({ memory: "100Mi" }, low, low)).toBeUndefined();
        expect(together({ memory: "100Mi" }, low, low, low)).toBe(
            "would hold 300 MiB, and the node has 700 MiB, of which 512 MiB are left to it",
        );
    });

    it("to have a node run out of memory", () => {
        expect(why({ memory: "1Gi", untilKilled: true, neighbours: "accept" }, limitless)).toContain("its node");
    });

    it("to stress a container that uses that much already: nothing would show", () => {
        expect(why({ cpu: "100%" }, reading(), rate(0.18))).toBe(
            "already uses 0.18 cores of 0.2 cores, so the attack would not show",
        );
        expect(why({ cpu: "1" }, reading({ cpu: 1.8 }), rate(0.9))).toBeUndefined();
    });

    it("to take a share that is less than a program can take", () => {
        expect(why({ memory: "0.5%" }, reading({ limit: 64 * mib }))).toBe(
            'has a memory limit of 64 MiB, of which memory "0.5%" is less than 1 MiB',
        );
        expect(why({ cpu: "0.1%" }, reading({ cpu: 0.1 }))).toBe(
            'has a CPU limit of 0.1 cores, of which cpu "0.1%" is less than 0.001 cores',
        );
        expect(why({ cpu: "1%" }, reading({ cpu: 0.1 }))).toBeUndefined();
    });

    it("to take memory where there is none left", () => {
        expect(why({ memory: "50%" }, reading({ used: 195 * mib }))).toBe(
            "has no room for the attack: it uses 195 MiB of 200 MiB, and its node has 4096 MiB",
        );
    });

    it("to have something killed by what the limit allows", () => {
        expect(why({ memory: "50%", untilKilled: true })).toBe(
            "uses 50 MiB of 200 MiB, so with 100 MiB more nothing would be killed",
        );
        expect(why({ memory: "150Mi", untilKilled: true })).toContain("nothing would be killed");
        expect(why({ memory: "80%", untilKilled: true })).toBeUndefined();
    });

    it("to take memory that its node does not have", () => {
        const on = (available: number): Reading => ({
            ...reading({ limit: 1_024 * mib }),
            node: { available: available * mib },
        });
        expect(why({ memory: "800Mi" }, on(516))).toBe(
            "has no room for the attack: it uses 50 MiB of 1024 MiB, and its node has 516 MiB",
        );
        expect(why({ memory: "800Mi" }, on(512 + 640))).toBeUndefined();
    });

    it("to run a program for which the container has no memory left", () => {
        const wide: Reading = { ...reading({ limit: 128 * mib }), node: { cores: 64, available: 4_096 * mib } };
        expect(why({ cpu: "1024" }, wide, rate(0), "node")).toBe(
            "uses 50 MiB of 128 MiB, and node needs 528 MiB for 64 cores",
        );
        expect(why({ cpu: "1024" }, wide, rate(0), "perl")).toBeUndefined();
        expect(why({ cpu: "2" }, wide, rate(0), "node")).toBeUndefined();
        expect(why({ memory: "50%" }, reading({ used: 185 * mib }), rate(0), "node")).toContain("node needs 16 MiB");
    });

    it("to take more memory than its tool takes in 30 s", () => {
        const large: Reading = { ...reading({ limit: 1_024 * mib }), node: { available: 4_096 * mib } };
        expect(why({ memory: "80%" }, large, rate(0), "sh")).toBe(
            "has sh, which takes 480 MiB of memory in 30 s, and the attack asks for 819 MiB",
        );
        expect(why({ memory: "80%" }, large, rate(0), "perl")).toBeUndefined();
        expect(why({ memory: "480Mi" }, large, rate(0), "sh")).toBeUndefined();
    });

    it("and nothing else", () => {
        expect(why({ cpu: "2", memory: "80%" })).toBeUndefined();
    });
});
