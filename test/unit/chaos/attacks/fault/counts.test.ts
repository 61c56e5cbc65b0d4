import { expect, it } from "vitest";
import { readCounts, whyHitNobody } from "../../../../../chaos/attacks/fault/proof";
import { describeCounts } from "../../../../../chaos/attacks/kind";
import type { Cluster } from "../../../../../chaos/cluster/client";

const counts = { requests: 10, faulted: 3, unfaultable: 0, unreachable: 0 };
const logging = (text: string) =>
    ({ core: { readNamespacedPodLog: () => Promise.resolve(text) } }) as unknown as Cluster;
const read = (text: string) =>
    readCounts({ chosen: { targets: [{ uid: "a" }, { uid: "b" }] } } as never, logging(text));
const fault = { service: "hot-deals", percentage: 30, match: { path: "/api" } };

it("what a proxy has hit is in the last whole line of its log, of the targets alone", async () => {
    const line = (requests: number) =>
        JSON.stringify({ at: 1, pods: { a: { ...counts, requests }, other: counts, b: counts } });
    expect(await read(`${line(5)}\n${line(9)}\nnot JSON\n`)).toEqual({ requests: 19, faulted: 6, unfaultable: 0 });
    expect(await read("")).toBeUndefined();
    const some = JSON.stringify({ at: 1, pods: { a: counts, b: { ...counts, unmatched: 7 } } });
    expect(await read(some)).toEqual({ requests: 20, faulted: 6, unfaultable: 0, unmatched: 7 });
});

it("a fault that has hit somebody decides nothing", () => {
    expect(whyHitNobody(fault, counts)).toBeUndefined();
});

it.each([
    [undefined, "fault-uncounted", "the counts of the proxy of Service hot-deals could not be read"],
    [{ ...counts, requests: 0, faulted: 0 }, "fault-hit-nobody", "0 requests reached the targets through Service"],
    [{ ...counts, faulted: 0 }, "fault-hit-nobody", "0 of 10 requests through Service hot-deals were hit at 30%"],
    [{ ...counts, unfaultable: 4 }, "fault-not-http", "4 of 10 connections through Service hot-deals were not"],
    [{ ...counts, requests: 0, faulted: 0, unmatched: 7 }, "fault-hit-nobody", "0 of 7 requests that reached the"],
])("with %j, nothing is known", (counted, code, message) => {
    const expected = { code, message: expect.stringContaining(message) };
    expect(whyHitNobody(fault, counted)).toEqual(expected);
});

it("what is no HTTP/1.1 had no status, or could not be matched", () => {
    const counted = { ...counts, unfaultable: 4 };
    expect(whyHitNobody(fault, counted)?.message).toContain("their requests could not be matched; leave out `match`");
    expect(whyHitNobody({ ...fault, match: undefined }, counted)?.message).toContain('use abort "reset" or "hang"');
});

it("what it has counted is told in words", () => {
    expect(describeCounts(counts)).toBe("3 of 10 requests hit");
    expect(describeCounts({ ...counts, unmatched: 7 })).toBe("3 of 10 requests hit; 7 others did not match");
});
