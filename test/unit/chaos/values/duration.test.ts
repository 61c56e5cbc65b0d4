import { describe, expect, it } from "vitest";
import {
    allowedDuration,
    describeAge,
    durationWithin,
    formatDuration,
    parseDuration,
    times,
} from "../../../../chaos/values/duration";

describe("a duration", () => {
    it.each(["0ms", "1ms", "500ms", "1500ms", "1s", "90s", "1m", "90m", "10h"])(
        "of %s is written as it is read",
        (text) => {
            expect(formatDuration(parseDuration(text)!)).toBe(text);
        },
    );

    it.each([
        ["60s", "1m"],
        ["5m0s", "5m"],
        ["1h30m", "90m"],
        ["2.01s", "2010ms"],
        ["0.5ms", "1ms"],
    ])("of %s is written in the largest unit that gives a whole number, %s", (text, written) => {
        expect(formatDuration(parseDuration(text)!)).toBe(written);
    });

    it.each(["", "5", "s", "-1s", "1 s", "1d", "1m 5s"])("is not %j", (text) =>
        expect(parseDuration(text)).toBeUndefined(),
    );
});

it.each([
    [-5_000, "0 minutes"],
    [119_000, "1 minute"],
    [3_600_000, "1 hour"],
    [86_399_000, "23 hours"],
    [41.9 * 86_400_000, "41 days"],
])("an age of %d ms is rounded down: %s", (milliseconds, text) => expect(describeAge(milliseconds)).toBe(text));

it.each(Object.entries(times))("what is said to be allowed for %s is", (_, range) => {
    const [, examples] = allowedDuration(range).split("such as ");
    for (const example of examples!.split(" or ")) expect(durationWithin(range, example)).toBeDefined();
});
