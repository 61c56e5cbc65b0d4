import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Acting, Meter } from "../../../../../../../chaos/kinds/attacks/fault/proxy/meter";
import type { ByteLimits, Effect } from "../../../../../../../chaos/kinds/attacks/fault/proxy/protocol";

const acting = { acts: true, pauses: false };

/** Passes chunks of some lengths on, one after the other. A chunk may come a time after the one before. */
function pass(
    limits: ByteLimits,
    chunks: readonly { bytes: number; afterMs?: number }[],
    fault: (now: number) => Acting = () => acting,
) {
    const seen = new Set<Effect>();
    let [now, passed, isCut] = [0, 0, false];
    const meter = new Meter(
        limits,
        {
            get acts() {
                return fault(now).acts;
            },
            get pauses() {
                return fault(now).pauses;
            },
        },
        (effect) => seen.add(effect),
    );
    for (const chunk of chunks) {
        now += chunk.afterMs ?? 0;
        for (let left = chunk.bytes; left > 0 && !isCut;) {
            const { bytes, afterMs } = meter.next(left, now);
            now += afterMs;
            left -= bytes;
            passed += bytes;
            isCut = bytes === 0;
        }
    }
    return { tookMs: now, passed, isCut, seen: [...seen] };
}

it("as a property: bytes take as long as their number at the rate, however they come", () => {
    const chunk = fc.record({ bytes: fc.integer({ min: 1, max: 50_000 }) });
    fc.assert(
        fc.property(fc.array(chunk, { minLength: 1 }), fc.integer({ min: 1, max: 1_000_000 }), (chunks, rate) => {
            const { tookMs, passed } = pass({ bytesPerSecond: rate }, chunks);
            expect(passed).toBe(chunks.reduce((sum, { bytes }) => sum + bytes, 0));
            expect(tookMs).toBeCloseTo((passed / rate) * 1_000, 3);
        }),
    );
});

describe("a rate", () => {
    it("saves up nothing while a connection idles", () => {
        const chunks = [{ bytes: 100 }, { bytes: 1_000, afterMs: 60_000 }];
        expect(pass({ bytesPerSecond: 1_000 }, chunks).tookMs).toBeGreaterThan(61_000);
    });

    it("is felt once it has held bytes for 50 ms", () => {
        expect(pass({ bytesPerSecond: 1_000 }, [{ bytes: 49 }]).seen).toEqual([]);
        expect(pass({ bytesPerSecond: 1_000 }, [{ bytes: 49 }, { bytes: 1 }]).seen).toEqual(["throttled"]);
    });

    it("holds nothing while the pulse is off, and what was passed then counts as that", () => {
        const pulse = (now: number) => ({ acts: now < 500, pauses: now >= 500 });
        const { tookMs, seen } = pass({ bytesPerSecond: 1_000 }, [{ bytes: 10_000 }], pulse);
        expect(tookMs).toBe(500);
        expect(seen).toEqual(["throttled", "paused"]);
    });

    it("holds nothing once the fault is over", () => {
        const over = () => ({ acts: false, pauses: false });
        expect(pass({ bytesPerSecond: 1 }, [{ bytes: 9 }], over)).toMatchObject({ tookMs: 0, seen: [] });
    });
});

describe("a cut", () => {
    it.each<[cutAfter: number, bytes: number[], passed: number, isCut: boolean]>([
        [100, [60, 60], 100, true],
        [100, [60, 40], 100, false],
        [0, [1], 0, true],
        [100, [99], 99, false],
    ])("after %d of %j bytes: %d pass", (cutAfter, bytes, passed, isCut) => {
        const chunks = bytes.map((count) => ({ bytes: count }));
        const seen = isCut ? ["cut"] : [];
        expect(pass({ cutAfter }, chunks)).toEqual({ tookMs: 0, passed, isCut, seen });
    });

    it("comes after as long as its bytes take", () => {
        const found = pass({ cutAfter: 500, bytesPerSecond: 1_000 }, [{ bytes: 9_000 }]);
        expect(found).toEqual({ tookMs: 500, passed: 500, isCut: true, seen: ["throttled", "cut"] });
    });
});
