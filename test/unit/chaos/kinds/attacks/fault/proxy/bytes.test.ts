import fc from "fast-check";
import { expect, it } from "vitest";
import { Bytes } from "../../../../../../../chaos/kinds/attacks/fault/proxy/bytes";

const chunk = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 20 }),
    fc.uint8Array({ minLength: 5_000, maxLength: 6_000 }),
);
const step = fc.oneof(
    chunk.map((bytes) => ({ add: Buffer.from(bytes) })),
    fc.constant({ peek: true }),
    fc.option(fc.nat(6_000), { nil: undefined }).map((atMost) => ({ take: atMost })),
);

it("bytes stay in their order, and what was taken stays as it is", () => {
    fc.assert(
        fc.property(fc.array(step, { size: "+1" }), (steps) => {
            const bytes = new Bytes();
            let [wanted, taken] = [Buffer.alloc(0), Buffer.alloc(0)];
            const parts: Buffer[] = [];
            for (const one of steps) {
                if ("add" in one) {
                    bytes.add(one.add);
                    wanted = Buffer.concat([wanted, one.add]);
                } else if ("peek" in one) expect(bytes.peek().equals(wanted)).toBe(true);
                else {
                    const part = bytes.take(one.take);
                    if (one.take !== undefined) expect(part.length).toBeLessThanOrEqual(one.take);
                    if (one.take === undefined && wanted.length > 0) expect(part.length).toBeGreaterThan(0);
                    parts.push(part);
                    taken = Buffer.concat([taken, wanted.subarray(0, part.length)]);
                    wanted = wanted.subarray(part.length);
                }
                expect(bytes.length).toBe(wanted.length);
            }
            expect(bytes.peek().equals(wanted)).toBe(true);
            expect(Buffer.concat(parts).equals(taken)).toBe(true);
        }),
    );
});

it("64 KiB in packets of one byte take no time and little memory, whether or not all are looked at each time", () => {
    const begun = performance.now();
    for (const looks of [true, false]) {
        const bytes = new Bytes();
        for (let length = 1; length <= 65_536; length++) {
            bytes.add(Buffer.from("x"));
            if (looks && bytes.peek().length !== length) throw new Error(`not ${length} bytes`);
        }
        expect(bytes.peek().buffer.byteLength).toBeLessThanOrEqual(2 * 65_536);
    }
    expect(performance.now() - begun).toBeLessThan(2_000);
});
