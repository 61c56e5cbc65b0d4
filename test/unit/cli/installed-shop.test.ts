import { describe, expect, it } from "vitest";
import { mistakesInMove } from "../../../cli/installed-shop";

describe("an installed shop stays where it is:", () => {
    const moved = (set: Record<string, string>, installed = {}) =>
        mistakesInMove(set, { namespace: "demo", install: "program", ...installed }, "cloud");

    it("a setting of the command line that would delete it is refused, with the command that moves it", () => {
        expect(moved({ namespace: "workshop" })).toBe(
            "--set namespace=workshop would delete the installed shop (namespace demo), with its data; " +
                "to keep the shop, omit it; to make another, also for later updates: " +
                "npx pulumi config set namespace workshop --stack cloud",
        );
        expect(moved({ namespace: "workshop", install: "chart" })?.split("\n")).toHaveLength(2);
    });

    it("what it has already is no change, and without a shop there is nothing to delete", () => {
        expect(moved({ namespace: "demo", install: "program", variant: "seven" })).toBeUndefined();
        expect(
            moved({ namespace: "a", install: "chart" }, { namespace: undefined, install: undefined }),
        ).toBeUndefined();
    });
});
