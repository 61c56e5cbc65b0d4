import { describe, expect, it } from "vitest";
import type { Selection } from "../../../../../../../chaos/kinds/attacks/fault/proxy/protocol";
import { Turns } from "../../../../../../../chaos/kinds/attacks/fault/proxy/turns";

/** Which of some requests are hit, by the clients that send them. */
function hits(selection: Partial<Selection>, clients: readonly string[]): { hit: string; served: number } {
    let served = 0;
    const turns = new Turns({ percentage: 100, ...selection }, Math.random, () => served++);
    const take = (client: string) => {
        if (!turns.next(client)) return ".";
        turns.wasHit(client);
        return client;
    };
    const hit = clients.map(take).join("");
    return { hit, served };
}

const one = [..."aaaaaaa"];
const two = [..."aabababb"];

describe("of the requests as they come,", () => {
    it.each<[Partial<Selection>, readonly string[], string, number]>([
        [{ first: 3 }, one, "aaa....", 0],
        [{ first: 3 }, two, "aab.....", 0],
        [{ first: 3, per: "client" }, two, "aabab.b.", 2],
        [{ every: 3 }, one, "..a..a.", 0],
        [{ every: 2, per: "client" }, two, ".a..ba.b", 0],
        [{}, two, "aabababb", 0],
    ])("%j: of %j", (selection, clients, hit, served) => {
        expect(hits(selection, clients)).toEqual({ hit, served });
    });

    it("a client that asks less than `first` is not served", () => {
        expect(hits({ first: 3, per: "client" }, [..."aabbb"])).toEqual({ hit: "aabbb", served: 1 });
    });

    it("a client is not served by what was to be hit, and was not", () => {
        let served = 0;
        const turns = new Turns({ percentage: 100, first: 2, per: "client" }, Math.random, () => served++);
        expect([..."aaa"].map((client) => turns.next(client))).toEqual([true, true, false]);
        turns.wasHit("a");
        expect(served).toBe(0);
        turns.wasHit("a");
        expect(served).toBe(1);
    });

    it("no more clients are told apart than fit, and of further ones nothing is hit", () => {
        const clients = Array.from({ length: 10_001 }, (_, index) => String(index));
        const turns = new Turns({ percentage: 100, first: 1, per: "client" }, Math.random);
        expect(clients.filter((client) => turns.next(client))).toHaveLength(10_000);
        expect(turns.next("0")).toBe(false);
    });
});
