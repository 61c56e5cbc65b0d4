import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { casesOf } from "./in-all";
import { kinds } from "../trials/kinds";
import { describeWrong } from "../trials/table";
import { Trials } from "../trials/trials";

/** One that leaves the rest of the cluster alone, so that other tests run at the same time. */
const usual = ["label-removed"];
const others = kinds.map(({ name }) => name).filter((name) => !usual.includes(name));

let trials: Trials;
beforeAll(async () => {
    const never = new AbortController().signal;
    trials = await Trials.open("npm test", 1, { signal: never, cancel: never });
});
afterAll(() => trials?.close());

describe("a verdict is right, and nothing is left 5 s after the experiment, if", () => {
    it.each(casesOf(usual, others).map((name) => kinds.find((kind) => kind.name === name)!))(
        "$meaning ($name)",
        async (kind) => {
            const result = await trials.run({ kind, denied: "drop", round: 1 });
            expect(describeWrong(result)).toBe("");
        },
    );
});
