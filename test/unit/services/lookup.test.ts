import type { LookupAddress } from "node:dns";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { cachedLookup } from "../../../services/gateway/names";

const address: LookupAddress = { address: "10.96.0.1", family: 4 };

describe("the DNS cache", () => {
    it("looks up a name once within its TTL", async () => {
        const asked: string[] = [];
        const lookup = promisify(
            cachedLookup(60_000, async (name) => {
                asked.push(name);
                return [address];
            }),
        );
        expect(await lookup("toys", { all: true })).toEqual([address]);
        expect(await lookup("toys", { all: true })).toEqual([address]);
        expect(asked).toEqual(["toys"]);
    });

    it("passes errors on to the connection", async () => {
        const lookup = promisify(cachedLookup(60_000, async () => Promise.reject(new Error("no such name"))));
        await expect(lookup("toys", { all: true })).rejects.toThrow("no such name");
    });

    it("returns one address to callers that want one", async () => {
        const { address: one, family } = await new Promise<LookupAddress>((resolve) =>
            cachedLookup(60_000, async () => [address])("toys", {}, (_, found, of) =>
                resolve({ address: found as string, family: of! }),
            ),
        );
        expect({ address: one, family }).toEqual(address);
    });
});
