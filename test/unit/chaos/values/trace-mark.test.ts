import fc from "fast-check";
import { expect, it } from "vitest";
import { isMarked, markedTraceId, newTraceparent } from "../../../../chaos/values/trace-mark";

it("a marked trace is recognized by who knows the key, in each format in which an application may pass it on", () => {
    const id = markedTraceId("key");
    expect(id).toMatch(/^[\da-f]{32}$/);
    for (const [name, value] of [
        ["traceparent", `00-${id}-0123456789abcdef-01`],
        ["traceparent", newTraceparent("key").traceparent],
        ["b3", `${id}-0123456789abcdef-1`],
        ["x-b3-traceid", id.toUpperCase()],
        ["uber-trace-id", `${id}:0123456789abcdef:0:1`],
    ] as const) {
        expect(
            isMarked(
                [
                    ["host", "a"],
                    [name, value],
                ],
                "key",
            ),
        ).toBe(true);
        expect(isMarked([[name, value]], "another")).toBe(false);
    }
});

it("no other trace is", () => {
    expect(isMarked([["traceparent", newTraceparent().traceparent]], "key")).toBe(false);
    expect(isMarked([["x-request-id", markedTraceId("key")]], "key")).toBe(false);
    fc.assert(fc.property(fc.string(), (value) => !isMarked([["traceparent", value]], "key")));
    expect(new Set(Array.from({ length: 100 }, () => markedTraceId("key"))).size).toBe(100);
});
