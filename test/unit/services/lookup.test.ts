import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { rememberingLookup } from "../../../services/gateway/lookup";

const address = { address: "10.96.0.1", family: 4 };
const moved = { address: "10.96.0.2", family: 4 };

/** A lookup that remembers for 50 ms, and the names that it asked for. */
function counted(answer: () => Promise<(typeof address)[]> = async () => [address]) {
    const asked: string[] = [];
    const lookup = rememberingLookup(50, (name) => {
        asked.push(name);
        return answer();
    });
    return { asked, look: (name: string) => promisify(lookup)(name, { all: true }) };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("names of backends", () => {
    it("are asked for once by all who want them at the same time, and for a moment after", async () => {
        const { asked, look } = counted();
        expect(await Promise.all([look("toys"), look("toys")])).toEqual([[address], [address]]);
        expect(await look("toys")).toEqual([address]);
        expect(asked).toEqual(["toys"]);
    });

    it("are asked for again after that moment, since they may be lost or lead elsewhere", async () => {
        const { asked, look } = counted();
        await look("toys");
        await pass(80);
        await look("toys");
        expect(asked).toEqual(["toys", "toys"]);
    });

    it("are given at once to whoever wants them steadily, while they are asked for again", async () => {
        let answers = 0;
        const { asked, look } = counted(() => (answers++ === 0 ? Promise.resolve([address]) : new Promise((resolve) => setTimeout(resolve, 10, [moved]))));
        await look("toys");
        await pass(30);
        expect(await look("toys")).toEqual([address]);
        expect(asked).toEqual(["toys", "toys"]);
        await pass(30);
        expect(await look("toys")).toEqual([moved]);
    });

    it("are not held for longer by being asked for in vain", async () => {
        let answers = 0;
        const { look } = counted(() => (answers++ === 0 ? Promise.resolve([address]) : Promise.reject(new Error("no such name"))));
        await look("toys");
        await pass(30);
        expect(await look("toys")).toEqual([address]);
        await pass(30);
        await expect(look("toys")).rejects.toThrow("no such name");
    });

    it("are asked for once at a time, also where the answer does not come", async () => {
        let answers = 0;
        const { asked, look } = counted(() => (answers++ === 0 ? Promise.resolve([address]) : new Promise(() => {})));
        await look("toys");
        await pass(30);
        await look("toys");
        await pass(30);
        void look("toys");
        await pass(100);
        void look("toys");
        expect(asked).toEqual(["toys", "toys"]);
    });

    it("that could not be looked up are asked for again at once", async () => {
        const { asked, look } = counted(async () => Promise.reject(new Error("no such name")));
        await expect(look("toys")).rejects.toThrow("no such name");
        await expect(look("toys")).rejects.toThrow("no such name");
        expect(asked).toEqual(["toys", "toys"]);
    });

    it("are given one at a time to those who want one address", async () => {
        const { address: one, family } = await new Promise<typeof address>((resolve) => rememberingLookup(50, async () => [address])("toys", {}, (_, found, of) => resolve({ address: found as string, family: of! })));
        expect({ address: one, family }).toEqual(address);
    });
});
