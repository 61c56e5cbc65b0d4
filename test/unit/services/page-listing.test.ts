import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";

/** What the browser's file exports: no build step adds types to it. */
let listing: {
    missingFrom: (answer: Record<string, string>) => { name: string; why: string }[];
    describeListing: (listing: object) => { state: string; word: string; detail: string };
};
beforeAll(async () => {
    listing = await import(join(__dirname, "../../../services/ui/listing.browser.js"));
});

const whole = { statusFashion: "REMOTE_SERVICE", statusToys: "REMOTE_SERVICE", statusHotDeals: "REMOTE_SERVICE" };
const described = (answer: Record<string, string>) =>
    listing.describeListing({ ok: true, status: 200, duration: 9, missing: listing.missingFrom(answer) });

describe("the page about an answer of /products with status 200", () => {
    it("is that the listing is complete if all three lists are from their departments", () => {
        expect(described(whole)).toEqual({
            state: "up",
            word: "is complete",
            detail: "All three departments answered within 9 ms.",
        });
    });

    it("names each department whose list is a fallback's, and why", () => {
        expect(described({ ...whole, statusToys: "CIRCUIT_OPEN", statusHotDeals: "UNREACHABLE" })).toEqual({
            state: "partial",
            word: "is incomplete",
            detail:
                "Missing: Toys (circuit open), Hot deals (unreachable). An empty list is the fallback. " +
                "The listing took 9 ms.",
        });
    });
});

describe("the page about another answer of /products", () => {
    it("is the status and the gateway's words", () => {
        const failed = { ok: false, status: 502, detail: "hot-deals does not answer.", missing: [] };
        expect(listing.describeListing(failed)).toMatchObject({ state: "down", word: "fails with 502" });
        const silent = { ok: false, detail: "The gateway does not answer." };
        expect(listing.describeListing(silent)).toMatchObject({ word: "does not answer", detail: silent.detail });
    });
});
