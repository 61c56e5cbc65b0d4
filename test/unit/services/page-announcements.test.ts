import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";

interface Shown {
    listing: { status?: number; state: string; detail?: string; missing?: { name: string }[] };
    departments: { name: string; status: "UP" | "DOWN" | "UNKNOWN" }[];
    attacks: string[] | null;
}

/** What the browser's file exports: no build step adds types to it. */
let announcements: { createAnnouncer: () => (shown: Shown, at: number) => string };
beforeAll(async () => {
    announcements = await import(join(__dirname, "../../../services/ui/announcements.browser.js"));
});

const shop = (state: "up" | "partial" | "down", hotDeals: "UP" | "DOWN", attacks: string[] | null = []): Shown => ({
    listing: {
        status: state === "down" ? 502 : 200,
        state,
        missing: state === "partial" ? [{ name: "Hot deals" }] : [],
    },
    departments: [
        { name: "Toys", status: "UP" },
        { name: "Hot deals", status: hotDeals },
    ],
    attacks,
});
const well = shop("up", "UP");

/** What is announced of these states, one a second, with the second. */
function heard(...shown: Shown[]): [second: number, news: string][] {
    const newsOf = announcements.createAnnouncer();
    return shown
        .map((one, second): [number, string] => [second, newsOf(one, second * 1_000)])
        .filter(([, news]) => news !== "");
}
const repeated = (times: number, shown: Shown) => Array.from({ length: times }, () => shown);

describe("what the page announces to screen readers", () => {
    it("is an attack when it begins and when it ends, once each, and what comes of it", () => {
        const attacked = shop("down", "DOWN", ["hot-deals is isolated"]);
        const begun = shop("up", "UP", ["hot-deals is isolated"]);
        expect(heard(well, begun, ...repeated(15, attacked), shop("down", "DOWN"), ...repeated(5, well))).toEqual([
            [1, "Under attack: hot-deals is isolated."],
            [2, "The listing fails. Down: Hot deals."],
            [17, "The attack has ended."],
            [18, "The listing is complete. All departments are up."],
        ]);
    });

    it("is nothing about the first state, and nothing of attacks while they are unknown", () => {
        const attacked = shop("down", "DOWN", ["hot-deals is isolated"]);
        expect(heard(attacked, shop("down", "DOWN", null), attacked)).toEqual([]);
    });

    it("names the departments that a fallback replaces", () => {
        expect(heard(well, shop("partial", "DOWN"))).toEqual([
            [1, "The listing is incomplete, without Hot deals. Down: Hot deals."],
        ]);
    });

    it("is one sentence pair, once, while requests fail now and then", () => {
        const attacks = ["hot-deals is failing with status 503 in 30% of requests"];
        // Both are separate requests: one fails in three of ten seconds, the other in three others.
        const flaky = Array.from({ length: 60 }, (_, second) =>
            shop(
                [1, 4, 8].includes(second % 10) ? "down" : "up",
                [2, 4, 7].includes(second % 10) ? "DOWN" : "UP",
                attacks,
            ),
        );
        const all = heard(well, ...flaky);
        expect(all.map(([, news]) => news)).toEqual([
            `Under attack: ${attacks[0]}.`,
            "The listing fails now and then. Down now and then: Hot deals.",
        ]);
    });

    it("waits for requests that agree, unless they disagree for ten seconds", () => {
        const disagreeing = shop("up", "DOWN");
        expect(heard(well, disagreeing, well, shop("down", "UP"), well)).toEqual([]);
        expect(heard(well, ...repeated(12, disagreeing))).toEqual([[11, "The listing is complete. Down: Hot deals."]]);
    });

    it("is that the gateway does not answer", () => {
        const silent: Shown = {
            listing: { state: "down", detail: "The gateway does not answer." },
            departments: well.departments.map(({ name }) => ({ name, status: "UNKNOWN" })),
            attacks: null,
        };
        expect(heard(well, silent, silent)).toEqual([[1, "The gateway does not answer."]]);
    });
});
