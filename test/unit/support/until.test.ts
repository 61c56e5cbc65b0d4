import { expect, it } from "vitest";
import { until } from "../../support/until";

it("until returns what was found", async () => {
    const found = [undefined, false, "b"] as const;
    let looks = 0;
    expect(await until("there is one", () => found[looks++], { pauseMs: 1 })).toBe("b");
});

it("until says what it waited for, and for how long", () =>
    expect(until("there is one", async () => false, { timeoutMs: 20, pauseMs: 5 })).rejects.toThrow(
        "not within 20 ms: there is one",
    ));
