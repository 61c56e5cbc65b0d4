import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiServerPulse } from "../../../../../chaos/kinds/checks/api-server";
import { refuse } from "../../support/fake-cluster";
import { startClock, stopClock } from "../../support/time";

let pulse: ApiServerPulse;
/** How the API server answers. */
let answer: () => Promise<unknown>;
const answered = async (lastMs: number) => {
    const settled = pulse.answeredSince(performance.now() - lastMs);
    await vi.advanceTimersByTimeAsync(500);
    return settled;
};

beforeEach(() => {
    stopClock();
    answer = async () => ({});
    const ask = () => answer();
    pulse = new ApiServerPulse(ask, 1_000);
});
afterEach(() => {
    pulse.stop();
    startClock();
});

/** Lets the API server answer nothing for some time. */
async function silence(ms: number): Promise<void> {
    const over = new Promise((resolve) => setTimeout(resolve, ms));
    const before = answer;
    answer = () => over;
    await vi.advanceTimersByTimeAsync(ms);
    answer = before;
}

describe("the API server's pulse", () => {
    it("is there while it answers, in no more than half the time of a request", async () => {
        answer = () => new Promise((resolve) => setTimeout(resolve, 490));
        await vi.advanceTimersByTimeAsync(3_000);
        expect(await answered(1_000)).toBe(true);
    });

    it.each([1_000, 4_000, 20_000])("counts as missing for a request during a gap of %i ms", async (gapMs) => {
        await vi.advanceTimersByTimeAsync(3_010);
        await silence(gapMs);
        expect(await answered(1_000)).toBe(false);
    });

    it("is there again for a request that begins later", async () => {
        await silence(4_000);
        await vi.advanceTimersByTimeAsync(3_000);
        expect(await answered(2_000)).toBe(true);
        expect(await answered(4_000)).toBe(false);
    });

    it.each<[string, () => Promise<unknown>, boolean]>([
        ["rejects requests", async () => refuse(429, "too many requests"), false],
        ["refuses connections", () => Promise.reject(new Error("connect ECONNREFUSED")), false],
        ["says that there is no such Service", async () => refuse(404, "not found"), true],
    ])("if it %s", async (_, refusing, expected) => {
        answer = refusing;
        await vi.advanceTimersByTimeAsync(1_000);
        expect(await answered(500)).toBe(expected);
    });
});

describe("a silence of the API server, by which a stall of this machine's network shows,", () => {
    const wasSilent = (lastMs: number) => pulse.wasSilentSince(performance.now() - lastMs);

    it("is none while answers come, be they late or refusals", async () => {
        answer = () => new Promise((resolve) => setTimeout(resolve, 3_000));
        await vi.advanceTimersByTimeAsync(8_000);
        expect(wasSilent(2_000)).toBe(false);
        answer = async () => refuse(403, "forbidden");
        await vi.advanceTimersByTimeAsync(8_000);
        expect(wasSilent(2_000)).toBe(false);
    });

    it("is there for each request that it overlaps with, and for no other", async () => {
        await vi.advanceTimersByTimeAsync(3_010);
        await silence(1_500);
        expect(wasSilent(1_000)).toBe(true);
        await vi.advanceTimersByTimeAsync(1_000);
        expect(wasSilent(1_200)).toBe(true);
        await vi.advanceTimersByTimeAsync(2_000);
        expect(wasSilent(1_000)).toBe(false);
    });

    it("is none for a request that lasted so much longer that it is not why there was no answer", async () => {
        await vi.advanceTimersByTimeAsync(3_010);
        await silence(1_000);
        await vi.advanceTimersByTimeAsync(4_000);
        expect(wasSilent(5_000)).toBe(false);
    });

    it("is none if it is short, or if no answer ever came: then nothing is known by it", async () => {
        await vi.advanceTimersByTimeAsync(3_010);
        await silence(500);
        expect(wasSilent(1_000)).toBe(false);
        pulse.stop();
        answer = () => Promise.reject(new Error("connect ECONNREFUSED"));
        pulse = new ApiServerPulse(() => answer());
        await vi.advanceTimersByTimeAsync(5_000);
        expect(wasSilent(1_000)).toBe(false);
    });
});
