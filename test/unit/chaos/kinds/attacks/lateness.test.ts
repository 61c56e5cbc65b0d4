import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Lateness } from "../../../../../chaos/kinds/attacks/lateness";

let missed: { at: number; what: string; forMs: number; problem: string }[];
beforeEach(() => {
    vi.useFakeTimers({ now: 0 });
    missed = [];
});
afterEach(() => void vi.useRealTimers());

const lateness = () => new Lateness({ missed: (one) => missed.push(one) }, "the load", 5_000);
const after = (milliseconds: number) => vi.setSystemTime(milliseconds);

describe("what is due and cannot be done", () => {
    it("is reported once, when it is late by the time, with since when and why now", () => {
        const late = lateness();
        late.due(0, "no answer");
        after(4_999);
        late.due(4_000, "no answer");
        expect(missed).toEqual([]);
        after(5_000);
        late.due(5_000, new Error("forbidden"));
        after(20_000);
        late.due(20_000, "forbidden");
        expect(missed).toEqual([{ at: 0, what: "the load", forMs: 5_000, problem: "forbidden" }]);
    });

    it("is late from anew once it could be done, and is reported again", () => {
        const late = lateness();
        late.due(0, "a");
        after(5_000);
        late.due(5_000, "a");
        late.due(5_000, undefined);
        late.due(6_000, "b");
        after(10_999);
        late.due(10_999, "b");
        expect(missed).toHaveLength(1);
        after(11_000);
        late.due(11_000, "b");
        expect(missed[1]).toMatchObject({ at: 6_000, problem: "b" });
    });
});
