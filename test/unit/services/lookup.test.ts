import type { LookupAddress } from "node:dns";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { rememberingLookup } from "../../../services/gateway/lookup";

const address: LookupAddress = { address: "10.96.0.1", family: 4 };

describe("names of backends", () => {
    it("are asked for once in a moment", async () => {
        const asked: string[] = [];
        const lookup = promisify(
            rememberingLookup(60_000, async (name) => {
                asked.push(name);
                return [address];
            }),
        );
        expect(await lookup("toys", { all: true })).toEqual([address]);
        expect(await lookup("toys", { all: true })).toEqual([address]);
        expect(asked).toEqual(["toys"]);
    });

    it("that could not be looked up are told so to whoever connects", async () => {
        const lookup = promisify(rememberingLookup(60_000, async () => Promise.reject(new Error("no such name"))));
        await expect(lookup("toys", { all: true })).rejects.toThrow("no such name");
    });

    it("are given one at a time to those who want one address", async () => {
        const { address: one, family } = await new Promise<LookupAddress>((resolve) =>
            rememberingLookup(60_000, async () => [address])("toys", {}, (_, found, of) =>
                resolve({ address: found as string, family: of! }),
            ),
        );
        expect({ address: one, family }).toEqual(address);
    });
});
