import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kinds } from "../trials/kinds";
import { describeWrong } from "../trials/table";
import { Trials } from "../trials/trials";

/** Those that no other test shows: runs without trouble are in the story, and killed updates have a file. */
const kindsHere = ["policy-lifted", "label-removed", "api-server-4s"] as const;

let trials: Trials;
beforeAll(async () => {
    const never = new AbortController().signal;
    trials = await Trials.open("npm test", 1, { signal: never, cancel: never });
});
afterAll(() => trials?.close());

describe("a verdict is right, and nothing is left 5 s after the experiment, if", () => {
    it.each(kindsHere.map((name) => kinds.find((kind) => kind.name === name)!))("$meaning ($name)", async (kind) => {
        const result = await trials.run({ kind, denied: "drop", round: 1 });
        expect(describeWrong(result)).toBe("");
    });
});
