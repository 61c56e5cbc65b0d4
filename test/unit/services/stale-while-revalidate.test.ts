import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { staleWhileRevalidate } from "../../../services/shared/stale-while-revalidate";

/** A cache with a TTL of 50 ms, and the keys it has loaded. */
function counted(answer: () => Promise<string> = async () => "old") {
    const loads: string[] = [];
    const get = staleWhileRevalidate(50, (key: string) => {
        loads.push(key);
        return answer();
    });
    return { loads, get };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("a cached value", () => {
    it("is loaded once for concurrent callers, and for callers within the TTL", async () => {
        const { loads, get } = counted();
        expect(await Promise.all([get("toys"), get("toys")])).toEqual(["old", "old"]);
        expect(await get("toys")).toBe("old");
        expect(loads).toEqual(["toys"]);
    });

    it("is loaded again after the TTL", async () => {
        const { loads, get } = counted();
        await get("toys");
        await pass(80);
        await get("toys");
        expect(loads).toEqual(["toys", "toys"]);
    });

    it("is cached by key", async () => {
        const { loads, get } = counted();
        await get("toys");
        await get("fashion");
        expect(loads).toEqual(["toys", "fashion"]);
    });

    it("is served at once after half the TTL, while it is refreshed", async () => {
        let answers = 0;
        const { loads, get } = counted(() =>
            answers++ === 0 ? Promise.resolve("old") : new Promise((resolve) => setTimeout(resolve, 10, "new")),
        );
        await get("toys");
        await pass(30);
        expect(await get("toys")).toBe("old");
        expect(loads).toEqual(["toys", "toys"]);
        await pass(30);
        expect(await get("toys")).toBe("new");
    });

    it("expires after the TTL even if its refresh failed", async () => {
        let answers = 0;
        const { get } = counted(() => (answers++ === 0 ? Promise.resolve("old") : Promise.reject(new Error("gone"))));
        await get("toys");
        await pass(30);
        expect(await get("toys")).toBe("old");
        await pass(30);
        await expect(get("toys")).rejects.toThrow("gone");
    });

    it("is loaded once at a time, also if the load hangs", async () => {
        let answers = 0;
        const { loads, get } = counted(() => (answers++ === 0 ? Promise.resolve("old") : new Promise(() => {})));
        await get("toys");
        await pass(30);
        await get("toys");
        await pass(30);
        void get("toys");
        await pass(100);
        void get("toys");
        expect(loads).toEqual(["toys", "toys"]);
    });

    it("is loaded again at once after an error", async () => {
        const { loads, get } = counted(async () => Promise.reject(new Error("gone")));
        await expect(get("toys")).rejects.toThrow("gone");
        await expect(get("toys")).rejects.toThrow("gone");
        expect(loads).toEqual(["toys", "toys"]);
    });
});
