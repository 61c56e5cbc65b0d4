import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Kind } from "../trials/kind";
import { lackOf, placeNow } from "../trials/place";
import { describeWrong } from "../trials/table";
import { Trials } from "../trials/trials";

/** A test for each of those kinds of trials that the sandbox can do as it is: one round, on a network that drops. */
export function describeTrials(kinds: readonly Kind[]): void {
    const place = placeNow();
    let trials: Trials;
    beforeAll(async () => {
        const never = new AbortController().signal;
        const interruption = { signal: never, cancel: never };
        trials = await Trials.open({ seed: "npm test", place, denied: "drop", stacks: 1, interruption });
    });
    afterAll(() => trials?.close());

    describe("a verdict is right, and nothing is left 5 s after the experiment, if", () => {
        it.each(kinds.filter(({ needs }) => lackOf(needs, place) === ""))("$meaning ($name)", async (kind) => {
            const result = await trials.run({ kind, denied: "drop", round: 1 });
            expect(describeWrong(result)).toBe("");
        });
    });
}
