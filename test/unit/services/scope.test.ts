import { describe, expect, it } from "vitest";
import { createLog } from "../../../services/shared/log";
import { openScope } from "../../../services/shared/scope";

const log = createLog("test", "silent");
const scopeOf = (headers: Record<string, string>) => openScope((name) => headers[name], log);
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parent = `00-${traceId}-00f067aa0ba902b7-01`;

describe("a request's id", () => {
    it("is the client's id if it is valid", () => {
        const scope = scopeOf({ "x-request-id": "order-7_A.b" });
        expect(scope.requestId).toBe("order-7_A.b");
        expect(scope.headers["X-Request-Id"]).toBe("order-7_A.b");
    });

    it.each(["", "two words", "line\nbreak", "<script>", "x".repeat(129)])("replaces the invalid id %j", (given) => {
        expect(scopeOf({ "x-request-id": given }).requestId).toMatch(/^[\da-f-]{36}$/);
    });
});

describe("a request's trace", () => {
    it("keeps the trace's id and flags, with a new span id", () => {
        const { traceparent } = scopeOf({ traceparent: parent }).headers;
        expect(traceparent).toMatch(new RegExp(`^00-${traceId}-[\\da-f]{16}-01$`));
        expect(traceparent).not.toBe(parent);
    });

    it.each([
        ["03", "01"],
        ["ff", "01"],
        ["fe", "00"],
    ])("with the flags %s continues with %s: only one flag is known", (given, passedOn) => {
        expect(scopeOf({ traceparent: parent.replace(/..$/, given) }).headers.traceparent).toMatch(
            new RegExp(`-${passedOn}$`),
        );
    });

    it("keeps the trace state", () => {
        expect(scopeOf({ traceparent: parent, tracestate: "a=1,b=2" }).headers.tracestate).toBe("a=1,b=2");
    });

    it("continues from the header of a later version", () => {
        expect(scopeOf({ traceparent: `cc-${traceId}-00f067aa0ba902b7-01-more` }).headers.traceparent).toContain(
            traceId,
        );
    });

    it.each([
        "",
        "nonsense",
        parent.toUpperCase(),
        `${parent}-more`,
        parent.replace("00-", "ff-"),
        `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
        `00-${traceId}-${"0".repeat(16)}-01`,
    ])("replaces the invalid parent %j with a new trace without state", (traceparent) => {
        const { headers } = scopeOf({ traceparent, tracestate: "a=1" });
        expect(headers.traceparent).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-00$/);
        expect(headers.traceparent).not.toContain(traceId);
        expect(headers).not.toHaveProperty("tracestate");
    });
});
