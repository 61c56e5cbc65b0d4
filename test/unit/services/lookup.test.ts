import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { rememberingLookup } from "../../../services/gateway/lookup";

const address = { address: "10.96.0.1", family: 4 };

/** A lookup that remembers for 50 ms, and the names that it asked for. */
function counted(answer: () => Promise<(typeof address)[]> = async () => [address]) {
    const asked: string[] = [];
    const lookup = rememberingLookup(50, (name) => {
        asked.push(name);
        return answer();
    });
    return { asked, look: (name: string) => promisify(lookup)(name, { all: true }) };
}

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
        await sleep(80);
        await look("toys");
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
