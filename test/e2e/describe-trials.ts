import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Kind } from "../trials/kind";
import { describeWrong } from "../trials/table";
import { Trials } from "../trials/trials";

/** A test for each of some kinds of trials: one round, on a network that drops what is denied. */
export function describeTrials(kinds: readonly Kind[]): void {
    let trials: Trials;
    beforeAll(async () => {
        const never = new AbortController().signal;
        trials = await Trials.open("npm test", 1, { signal: never, cancel: never });
    });
    afterAll(() => trials?.close());

    describe("a verdict is right, and nothing is left 5 s after the experiment, if", () => {
        it.each([...kinds])("$meaning ($name)", async (kind) => {
            const result = await trials.run({ kind, denied: "drop", round: 1 });
            expect(describeWrong(result)).toBe("");
        });
    });
}
