import { describe, expect, it } from "vitest";
import { explainFault, readCounts } from "../../../../../../chaos/kinds/attacks/fault/proof";
import { countedSince, describeCounts, describeHits } from "../../../../../../chaos/kinds/attacks/counted";
import type { Cluster } from "../../../../../../chaos/cluster/client";
import { labels } from "../../../../../../chaos/cluster/labels";
import type { Resource } from "../../../../../../chaos/cluster/resources";

const counts = { requests: 10, faulted: 3, unfaultable: 0, unreachable: 0 };
const logging = (text: string) => ({ log: () => Promise.resolve(text) }) as unknown as Cluster;
const read = (text: string) =>
    readCounts({ chosen: { targets: [{ uid: "a" }, { uid: "b" }] } } as never, logging(text));

it("what a proxy has hit is in the last whole line of its log, of the targets alone", async () => {
    const line = (requests: number) =>
        JSON.stringify({ at: 1, pods: { a: { ...counts, requests }, other: counts, b: counts } });
    expect(await read(`${line(5)}\n${line(9)}\nnot JSON\n`)).toEqual({
        counts: { requests: 19, faulted: 6, unfaultable: 0 },
    });
    expect(await read("")).toBeUndefined();
    const some = JSON.stringify({ at: 1, pods: { a: counts, b: { ...counts, unmatched: 7 } } });
    expect(await read(some)).toEqual({ counts: { requests: 20, faulted: 6, unfaultable: 0, unmatched: 7 } });
});

it("the effects of a fault are counted at the targets, and clients at all of them together", async () => {
    const b = { ...counts, throttled: 1, cut: 2, paused: 3 };
    const line = { at: 9, pods: { a: { ...counts, throttled: 1 }, b, other: b }, clients: 2 };
    expect(await read(JSON.stringify(line))).toEqual({
        counts: { requests: 20, faulted: 6, unfaultable: 0, throttled: 2, cut: 2, paused: 3, clients: 2 },
    });
});

it("of the requests in the traces of checks, it counts all that came through, to targets or not", async () => {
    const a = { ...counts, ofChecks: 4, ofChecksFaulted: 1 };
    const line = { at: 9, since: 5, pods: { a, other: { ...counts, ofChecks: 3 } }, refused: 2 };
    expect(await read(JSON.stringify(line))).toEqual({
        since: 5,
        counts: { requests: 10, faulted: 3, unfaultable: 0, ofChecks: 7, ofChecksFaulted: 1, refused: 2 },
    });
});

describe("what counts is what was counted in the window", () => {
    const before = { requests: 700, faulted: 7, unfaultable: 0, unmatched: 5 };
    const now = { requests: 745, faulted: 7, unfaultable: 0, unmatched: 5, ofChecks: 3, ofChecksFaulted: 0 };
    const difference = { requests: 45, faulted: 0, unfaultable: 0, ofChecks: 3, ofChecksFaulted: 0 };

    it("by one process, also of an earlier version", () => {
        expect(countedSince({ counts: before, since: 1 }, { counts: now, since: 1 })).toEqual(difference);
        expect(countedSince({ counts: before }, { counts: now })).toEqual(difference);
    });

    it("with what began before and was hit since: never more hits than requests", () => {
        const later = { requests: 15, faulted: 9, unfaultable: 0, ofChecks: 4, ofChecksFaulted: 3 };
        const earlier = { requests: 10, faulted: 3, unfaultable: 0, ofChecks: 4, ofChecksFaulted: 2 };
        expect(countedSince({ counts: earlier }, { counts: later })).toEqual({
            ...{ requests: 6, faulted: 6, unfaultable: 0, ofChecks: 1, ofChecksFaulted: 1 },
        });
    });

    it("and unknown if it was not read, or if another process counts", () => {
        expect(countedSince(undefined, { counts: now })).toBeUndefined();
        expect(countedSince({ counts: before }, undefined)).toBeUndefined();
        expect(countedSince({ counts: before, since: 1 }, { counts: now, since: 2 })).toBeUndefined();
    });
});

it("a verdict says what was hit, and whether a check met it", () => {
    const unknown =
        "hot-deals-fault hit 3 of 10 requests of all callers in the window; whether one that a check caused";
    expect(describeHits("hot-deals-fault", counts)).toContain(unknown);
    const known = "hit 1 of 2 requests that the checks caused, and 3 of 10 requests of all callers, in the window";
    expect(describeHits("hot-deals-fault", { ...counts, ofChecks: 2, ofChecksFaulted: 1 })).toContain(known);
});

it("what it has counted is told in words", () => {
    expect(describeCounts(counts)).toBe("3 of 10 requests hit");
    expect(describeCounts({ ...counts, unmatched: 7 })).toBe("3 of 10 requests hit; 7 others did not match");
    expect(describeCounts({ ...counts, throttled: 3, cut: 2, clients: 1, paused: 4 })).toBe(
        "3 of 10 requests hit; 3 slowed; 2 cut; all first ones of 1 client; 4 passed on while the pulse was off",
    );
});

describe("a fault that is over is explained", () => {
    const proxy = "shop-fault";
    const before = { app: "api", version: "v1" };
    const pointed = { [labels.proxy]: proxy };
    const attack = { namespace: "shop", object: proxy, chosen: { found: { service: "api", selector: before } } };

    /** @param selector undefined: the Service is gone. @param phase undefined: the proxy is gone */
    const explained = (
        selector: Record<string, string> | undefined,
        phase: string | undefined,
        metadata = {},
        status = {},
    ) => {
        const kubeconfig = { getCurrentContext: () => "kind-shop" };
        const service = selector && { spec: { selector } };
        const pod = phase === undefined ? undefined : { metadata, status: { phase, ...status } };
        const get = async ({ resource: { kind } }: { resource: Resource }) => (kind === "Pod" ? pod : service);
        return explainFault(attack as never, { get, kubeconfig } as unknown as Cluster, "shop-deadline");
    };

    it("a fault whose Service points to its running proxy is not explained by either", async () => {
        expect(await explained(pointed, "Running")).toBeUndefined();
    });

    it.each<[what: string, selector: Record<string, string> | undefined, phase: string | undefined, code: string]>([
        ["the Service is gone", undefined, "Running", "service-changed"],
        ["somebody wrote another selector", { app: "api", version: "v2" }, "Running", "service-changed"],
        ["somebody merged a label into the proxy's", { ...pointed, version: "v2" }, "Running", "service-changed"],
        [
            "somebody did, and the Job has ended the fault since",
            { ...before, version: "v2" },
            undefined,
            "service-changed",
        ],
        ["the proxy failed", pointed, "Failed", "proxy-failed"],
        ["the Job has ended the fault, for any reason", before, undefined, "attack-not-held"],
        ["somebody wrote the old selector", before, "Running", "service-changed"],
        ["the proxy is gone", pointed, undefined, "attack-not-held"],
    ])("if %s, that is the reason", async (_what, selector, phase, code) => {
        expect(await explained(selector, phase)).toMatchObject({ code });
    });

    it("if the Job is just ending the fault, and its proxy still serves requests, nobody is blamed", async () => {
        expect(await explained(before, "Running", { deletionTimestamp: new Date() })).toMatchObject({
            code: "attack-not-held",
        });
    });

    it("a proxy that has died and serves again was a gap: nobody knows what callers met meanwhile", async () => {
        const lastState = { terminated: { reason: "OOMKilled", exitCode: 137 } };
        const again = (restartCount: number) => ({ containerStatuses: [{ restartCount, lastState }] });
        expect(await explained(pointed, "Running", {}, again(0))).toBeUndefined();
        expect(await explained(pointed, "Running", {}, again(1))).toEqual({
            code: "proxy-failed",
            message:
                "the fault's proxy, pod shop-fault, was restarted once (OOMKilled, exit code 137); its callers got " +
                "no answer meanwhile",
        });
        expect((await explained(pointed, "Running", {}, again(3)))?.message).toContain("was restarted 3 times");
    });
});
