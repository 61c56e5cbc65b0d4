import { describe, expect, it } from "vitest";
import { differenceFromPage, endingIn } from "../../../../cli/exercises/page";

describe("the ending of a run, as it is printed", () => {
    it("has the verdict, and the checks that did not hold if there are several", () => {
        expect(endingIn("\n  Verdict        FAILED: 0% of 15 requests\n")).toEqual({ verdict: "FAILED" });
        const checks = [
            "/b: 0% succeeded, did not hold",
            "/a: 9.1% succeeded, did not hold",
            "c: 100% succeeded, held",
        ];
        const printed = [...checks.map((check) => `  Check          ${check}`), "  Verdict        FAILED: because"];
        expect(endingIn(printed.join("\n"))).toEqual({ verdict: "FAILED", failing: ["/a", "/b"] });
    });

    it("is unknown without a verdict", () => expect(endingIn("The run failed: no cluster")).toBeUndefined());
});

describe("a run is compared with the page", () => {
    const failed = { verdict: "FAILED", failing: ["/a"] };

    it("by its verdict, and by the checks that did not hold", () => {
        expect(differenceFromPage(failed, { verdict: "FAILED", failing: ["/a"] })).toBeUndefined();
        expect(differenceFromPage(failed, { verdict: "FAILED", failing: ["/b"] })).toBe(
            "on the page, these checks fail: /a",
        );
        expect(differenceFromPage({ verdict: "PASSED" }, { verdict: "FAILED" })).toBe("the page has PASSED");
        expect(differenceFromPage({ verdict: "PASSED" }, undefined)).toBe("the page has PASSED");
    });

    it("unless it is a matter of milliseconds", () => {
        expect(differenceFromPage(failed, { verdict: "PASSED", failing: [] }, true)).toBeUndefined();
        expect(differenceFromPage(failed, { verdict: "PASSED", failing: [] })).toBe("the page has FAILED");
        expect(differenceFromPage(failed, { verdict: "INCONCLUSIVE" }, true)).toBe("the page has FAILED");
    });
});
