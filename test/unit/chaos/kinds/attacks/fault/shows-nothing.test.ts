import { describe, expect, it } from "vitest";
import { whyShowsNothing } from "../../../../../../chaos/kinds/attacks/fault/shows-nothing";

const counts = { requests: 10, faulted: 3, unfaultable: 0 };
const fault = { service: "hot-deals", percentage: 30, match: { path: "/api" } };

it("a fault that has hit somebody decides nothing, unless it is known that no check met it", () => {
    expect(whyShowsNothing(fault, counts)).toBeUndefined();
    expect(whyShowsNothing(fault, { ...counts, ofChecks: 2, ofChecksFaulted: 1 })).toBeUndefined();
});

it.each([
    [undefined, "fault-uncounted", "the counts of the proxy of Service hot-deals could not be read"],
    [{ ...counts, requests: 0, faulted: 0 }, "fault-hit-nobody", "0 new requests reached the targets through Service"],
    [{ ...counts, faulted: 0 }, "fault-hit-nobody", "0 of 10 requests through Service hot-deals were hit at 30%"],
    [{ ...counts, unfaultable: 4 }, "fault-not-http", "4 of 10 connections through Service hot-deals were not"],
    [
        { ...counts, ofChecks: 2, ofChecksFaulted: 0 },
        "fault-hit-nobody",
        "0 of 2 requests that the checks caused through Service hot-deals were hit at 30% in the window, and 3 of 10",
    ],
    [{ ...counts, refused: 4 }, "proxy-failed", "closed 4 connections in the window: more than 4000 were open"],
    [{ ...counts, requests: 0, faulted: 0, unmatched: 7 }, "fault-hit-nobody", "0 of 7 requests that reached the"],
])("with %j, nothing is known", (counted, code, message) => {
    const expected = { code, message: expect.stringContaining(message) };
    expect(whyShowsNothing(fault, counted)).toEqual(expected);
});

it("what is no HTTP in clear text had no status, or could not be matched", () => {
    const counted = { ...counts, unfaultable: 4 };
    expect(whyShowsNothing(fault, counted)?.message).toContain(
        "their requests could not be matched; leave out `match`",
    );
    expect(whyShowsNothing({ ...fault, match: undefined }, counted)?.message).toContain('use abort "reset" or "hang"');
    const calls = { ...fault, abort: { grpc: 14 } };
    expect(whyShowsNothing(calls, counted)?.message).toContain(
        "4 of 10 requests through Service hot-deals were not gRPC",
    );
});

it.each([
    [{ first: 1 }, { faulted: 0 }, "0 of the first request through"],
    [{ first: 1, per: "client" as const }, {}, "no client had its first request through"],
    [{ cutAfter: 0 }, { cut: 0 }, /cut after 0 bytes in the window$/],
    [{ cutAfter: 1 }, { cut: 0 }, /cut after 1 byte in the window; use fewer bytes$/],
    [{ bytesPerSecond: 1 }, { throttled: 0 }, /slowed by 1 byte\/s in the window$/],
    [{}, { refused: 1 }, "closed 1 connection in the window"],
])("%j with %j is told of in the singular, without advice that cannot be followed", (its, seen, message) => {
    const why = whyShowsNothing({ service: "web", percentage: 100, ...its }, { ...counts, ...seen });
    expect(why?.message).toMatch(message);
});

describe("of a fault that takes turns, or limits bytes, all must have been seen:", () => {
    const all = { service: "hot-deals", percentage: 100 };
    const pulse = { onMs: 5_000, offMs: 10_000 };
    const through = "requests through Service hot-deals";

    it.each<[what: string, fault: object, enough: object, tooFew: object, message: string]>([
        [
            "the first three",
            { first: 3 },
            { faulted: 3 },
            { faulted: 2 },
            `2 of the first 3 ${through} were hit in the window, which had 10`,
        ],
        [
            "the first three of a client",
            { first: 3, per: "client" },
            { faulted: 5, clients: 1 },
            { faulted: 5 },
            `no client had its first 3 ${through} hit in the window, and 5 of 10 ${through} were`,
        ],
        [
            "a pulse that was off",
            { pulse },
            { faulted: 4, paused: 6 },
            { faulted: 10 },
            `0 of 10 ${through} came while the pulse was off, which was on for 5 s of every 15 s`,
        ],
        [
            "a pulse that was off for one of those that it hits",
            { pulse, every: 10 },
            { faulted: 1, paused: 1 },
            { faulted: 1 },
            `0 of 10 ${through} that were to be hit, 1 of every 10, came while the pulse was off, which was on for 5 s`,
        ],
        [
            "a rate that somebody felt",
            { bytesPerSecond: 1_000 },
            { throttled: 3 },
            { faulted: 0 },
            `0 of 10 ${through} were slowed by 1000 bytes/s in the window; use fewer bytes/s`,
        ],
        [
            "a rate behind a delay",
            { bytesPerSecond: 1_000 },
            { faulted: 10, throttled: 1 },
            { faulted: 10 },
            `0 of 10 ${through} were slowed by 1000 bytes/s`,
        ],
        [
            "something that was cut",
            { cutAfter: 100 },
            { cut: 3 },
            { faulted: 0 },
            `0 of 10 ${through} were cut after 100 bytes in the window; use fewer bytes`,
        ],
    ])("%s", (_, more, enough, tooFew, message) => {
        expect(whyShowsNothing({ ...all, ...more }, { ...counts, ...enough })).toBeUndefined();
        const expected = { code: "fault-incomplete", message: expect.stringContaining(message) as unknown };
        expect(whyShowsNothing({ ...all, ...more }, { ...counts, ...tooFew })).toEqual(expected);
    });

    it.each<[fault: object, counted: object, message: string]>([
        [{ every: 20 }, { faulted: 0 }, `0 of 10 ${through} were hit, 1 of every 20, in the window`],
        [{ pulse }, { faulted: 0, paused: 10 }, "were hit at 100% for 5 s of every 15 s in the window"],
        [
            { first: 3 },
            { ofChecks: 4, ofChecksFaulted: 0 },
            "0 of 4 requests that the checks caused through Service hot-deals were hit, only the first 3, in the " +
                "window, and 3 of 10 of all callers; use a match that only requests of the checks have",
        ],
    ])("%j hits nobody with %j", (more, counted, message) => {
        const expected = { code: "fault-hit-nobody", message: expect.stringContaining(message) as unknown };
        expect(whyShowsNothing({ ...all, ...more }, { ...counts, ...counted })).toEqual(expected);
    });
});
