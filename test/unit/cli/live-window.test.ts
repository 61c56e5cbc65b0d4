import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import type { SeenAnswer } from "../../../cli/live-window";
import { stripsOf } from "../../../cli/live-window";

/** `+` good, `-` bad. */
const answers = (check: string, signs: string): SeenAnswer[] =>
    [...signs].map((sign, at) => ({ check, at, latencyMs: 1, good: sign === "+" }));
const shown = (seen: SeenAnswer[], columns?: number) => stripsOf(seen, columns).map(stripVTControlCharacters);

it("the answers to a check are drawn as a strip, with the numbers of good and bad ones", () => {
    expect(shown(answers("/products", "++-"))).toEqual(["  ▂▂█  2 good, 1 bad"]);
});

it("several checks have a strip each, with its name", () => {
    expect(shown([...answers("/products", "+-"), ...answers("POST /orders", "+")])).toEqual([
        "  ▂█  1 good, 1 bad  /products",
        "  ▂  1 good, 0 bad  POST /orders",
    ]);
});

it("a strip that is longer than the terminal shows the latest answers", () => {
    const [strip] = shown(answers("/products", `${"-".repeat(100)}${"+".repeat(100)}`), 40);
    expect(strip!.length).toBeLessThanOrEqual(40);
    expect(strip).not.toContain("█");
});

it("without answers, nothing is drawn", () => expect(shown([])).toEqual([]));
