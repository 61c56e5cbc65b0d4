import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { shopCalls } from "../../../components/shop/calls";
import type { PodCalls } from "../../../services/gateway/call-counts";

type Readings = Record<string, PodCalls[]>;
type Edge = readonly [from: string, to: string];
interface Calls {
    state: "up" | "failing" | "idle" | "unknown";
    perSecond?: number;
    latencyMs?: number;
    failedShare?: number;
}

/** What the browser's file exports: no build step adds types to it. */
let page: {
    edgesOf: (variant?: string) => Edge[];
    PLACES: Record<string, unknown>;
    withReading: (readings: Readings, calls: PodCalls[]) => Readings;
    callsOf: (readings: Readings, edge: Edge) => Calls;
    failedText: (calls: Partial<Calls>) => string;
    sentenceOf: (all: (Calls & { from: string; to: string })[]) => string;
};
beforeAll(async () => {
    page = await import(join(__dirname, "../../../services/ui/calls.browser.js"));
});

it("each workload has its place in the picture", () => {
    expect(Object.keys(page.PLACES).sort()).toEqual([...new Set(page.edgesOf("seven").flat())].sort());
});

const edge: Edge = ["hot-deals", "database"];
/** What a pod of hot deals has counted of its calls to the database at a second. */
const reading = (second: number, answered: number, failed = 0, pod = "hot-deals-1"): PodCalls => ({
    workload: "hot-deals",
    pod,
    atMs: second * 1_000,
    calls: [{ to: "database", answered, failed, seconds: answered * 0.012 }],
});
const after = (...readings: PodCalls[][]) => readings.reduce(page.withReading, {});

describe("the edges of the page's graph", () => {
    it("are those that the shop's NetworkPolicies allow", () => {
        expect(page.edgesOf("seven").map(String).sort()).toEqual(shopCalls.map(String).sort());
    });

    it("of variant four lead neither from nor to what only variant seven has", () => {
        const added = ["orders", "inventory", "message-broker"];
        const four = shopCalls.filter((names) => !names.some((name) => added.includes(name)));
        expect(page.edgesOf("four").map(String).sort()).toEqual(four.map(String).sort());
    });
});

describe("how calls go", () => {
    it("is what was read since the clock of a pod was set back, and not what was before", () => {
        const before = [1, 3, 5].map((second) => [reading(1_000 + second, 100 + 3 * second)]);
        expect(page.callsOf(after(...before, [reading(400, 116)]), edge).state).toBe("unknown");
        const failing = after(...before, [reading(400, 116)], [reading(402, 116, 6)]);
        expect(page.callsOf(failing, edge)).toMatchObject({ state: "failing", perSecond: 3, failedShare: 1 });
    });

    it("begins again with a pod, also if it has failed more often since than it had ever answered", () => {
        expect(page.callsOf(after([reading(1, 4)], [reading(3, 0, 6)]), edge).state).toBe("unknown");
    });

    it("has their rate, the mean latency of those answered, and the share of those that failed", () => {
        const calls = page.callsOf(after([reading(1, 100)], [reading(5, 106, 2)]), edge);
        expect(calls).toMatchObject({ state: "failing", perSecond: 2, failedShare: 0.25 });
        expect(calls.latencyMs).toBeCloseTo(12);
    });

    it("adds up the pods of a workload", () => {
        const of = (second: number, answered: number) =>
            ["hot-deals-1", "hot-deals-2"].map((pod) => reading(second, answered, 0, pod));
        expect(page.callsOf(after(of(1, 0), of(3, 4)), edge)).toMatchObject({ state: "up", perSecond: 4 });
    });

    it("counts the last ten seconds", () => {
        const calls = page.callsOf(after([reading(0, 0, 9)], [reading(5, 5, 9)], [reading(12, 12, 9)]), edge);
        expect(calls).toMatchObject({ state: "up", perSecond: 1 });
    });

    describe("from several gateways, which answer in turn,", () => {
        const called: Edge = ["gateway", "hot-deals"];
        const own = (second: number, answered: number, pod: string): PodCalls => ({
            ...reading(second, 0, 0, pod),
            workload: "gateway",
            calls: [{ to: "hot-deals", answered, failed: 0, seconds: 0 }],
        });

        it("adds up what each has said in the last ten seconds", () => {
            const answers = Array.from({ length: 20 }, (_, at) => [
                own(at, 5 * at, at % 2 ? "gateway-1" : "gateway-2"),
            ]);
            expect(page.callsOf(after(...answers), called)).toMatchObject({ state: "up", perSecond: 10 });
        });

        it("no longer counts one that has not answered for ten seconds", () => {
            const gone = [[own(0, 0, "gateway-1")], [own(1, 9, "gateway-1")]];
            const readings = after(...gone, [own(11, 3, "gateway-2")], [own(12, 3, "gateway-2")]);
            expect(Object.keys(readings)).toEqual(["gateway-2"]);
            expect(page.callsOf(readings, called).state).toBe("idle");
        });

        it("is not known if none answers", () => {
            const answers = [[own(0, 0, "gateway-1")], [own(1, 9, "gateway-1")], []];
            expect(page.callsOf(after(...answers), called).state).toBe("unknown");
        });

        it("leaves out what one has read of a pod before another gateway has", () => {
            const readings = [reading(3, 30), reading(4, 40), reading(1, 10)].map((one) => [one]);
            expect(page.callsOf(after(...readings), edge)).toMatchObject({ state: "up", perSecond: 10 });
        });
    });

    it("is idle without calls", () => {
        expect(page.callsOf(after([reading(1, 3)], [reading(2, 3)]), edge).state).toBe("idle");
    });

    it.each<[string, PodCalls[][]]>([
        ["by one reading", [[reading(1, 3)]]],
        ["by the same reading twice", [[reading(1, 3)], [reading(1, 3)]]],
        ["of a pod that no longer answers", [[reading(1, 3)], [reading(2, 4)], []]],
        ["of a pod that has restarted", [[reading(1, 3)], [reading(2, 4)], [reading(3, 1)]]],
    ])("is not known %s", (_how, readings) => {
        expect(page.callsOf(after(...readings), edge).state).toBe("unknown");
    });

    it.each([
        [0, "0%"],
        [0.001, "1%"],
        [0.4, "40%"],
        [0.999, "99%"],
        [1, "100%"],
    ])("shows the share %d as %s", (failedShare, text) => {
        expect(page.failedText({ failedShare })).toBe(text);
    });

    it.each([
        [["up", "failing"], "Failing: b to database."],
        [["up", "unknown"], "No known call fails."],
        [["unknown", "unknown"], "How calls go is not known."],
    ] as const)("is said in a sentence without numbers: %j", (states, sentence) => {
        const all = states.map((state, index) => ({ from: "ab"[index]!, to: "database", state }));
        expect(page.sentenceOf(all)).toBe(sentence);
    });
});
