import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { remembering } from "../../../services/shared/remember";

/** A way of asking that remembers for 50 ms, and the questions that came through it. */
function counted(answer: () => Promise<string> = async () => "old") {
    const asked: string[] = [];
    const ask = remembering(50, (question: string) => {
        asked.push(question);
        return answer();
    });
    return { asked, ask };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("what is remembered for a moment", () => {
    it("is asked for once by all who want it at the same time, and for a moment after", async () => {
        const { asked, ask } = counted();
        expect(await Promise.all([ask("toys"), ask("toys")])).toEqual(["old", "old"]);
        expect(await ask("toys")).toBe("old");
        expect(asked).toEqual(["toys"]);
    });

    it("is asked for again after that moment, since it may be lost or another by then", async () => {
        const { asked, ask } = counted();
        await ask("toys");
        await pass(80);
        await ask("toys");
        expect(asked).toEqual(["toys", "toys"]);
    });

    it("is not mistaken for the answer to something else", async () => {
        const { asked, ask } = counted();
        await ask("toys");
        await ask("fashion");
        expect(asked).toEqual(["toys", "fashion"]);
    });

    it("is given at once to whoever wants it steadily, while it is asked for again", async () => {
        let answers = 0;
        const { asked, ask } = counted(() =>
            answers++ === 0 ? Promise.resolve("old") : new Promise((resolve) => setTimeout(resolve, 10, "new")),
        );
        await ask("toys");
        await pass(30);
        expect(await ask("toys")).toBe("old");
        expect(asked).toEqual(["toys", "toys"]);
        await pass(30);
        expect(await ask("toys")).toBe("new");
    });

    it("is not held for longer by being asked for in vain", async () => {
        let answers = 0;
        const { ask } = counted(() => (answers++ === 0 ? Promise.resolve("old") : Promise.reject(new Error("gone"))));
        await ask("toys");
        await pass(30);
        expect(await ask("toys")).toBe("old");
        await pass(30);
        await expect(ask("toys")).rejects.toThrow("gone");
    });

    it("is asked for once at a time, also where the answer does not come", async () => {
        let answers = 0;
        const { asked, ask } = counted(() => (answers++ === 0 ? Promise.resolve("old") : new Promise(() => {})));
        await ask("toys");
        await pass(30);
        await ask("toys");
        await pass(30);
        void ask("toys");
        await pass(100);
        void ask("toys");
        expect(asked).toEqual(["toys", "toys"]);
    });

    it("is asked for again at once where it could not be had", async () => {
        const { asked, ask } = counted(async () => Promise.reject(new Error("gone")));
        await expect(ask("toys")).rejects.toThrow("gone");
        await expect(ask("toys")).rejects.toThrow("gone");
        expect(asked).toEqual(["toys", "toys"]);
    });
});
