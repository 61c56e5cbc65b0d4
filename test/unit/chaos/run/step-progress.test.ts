import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { AnswerProgress } from "../../../../chaos/run/step-progress";
import type { StepContext } from "../../../../chaos/run/contract";
import { sayWithin } from "../../../../chaos/run/step-progress";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("a step tells what happens until what it has told would be too long for a variable", () => {
    const said: string[] = [];
    const say = sayWithin(10, (line) => said.push(line));
    for (const message of ["1234", "ü23", "12345", "1"]) say(message);
    expect(said).toEqual(["1234\n", "ü23\n"]);
});

it("answers are told every five seconds at first, and in an hour no more than fits beside other messages", () => {
    const said: string[] = [];
    const progress = new AnswerProgress(
        { say: (message: string) => said.push(message) } as unknown as StepContext,
        true,
    );
    const answer = { at: 0, latencyMs: 1, good: false, problem: "x".repeat(250) };
    for (let second = 1; second <= 70 * 60; second++) {
        vi.advanceTimersByTime(1_000);
        progress.count("/products", answer);
        if (second === 60) expect(said).toHaveLength(12);
    }
    expect(said.join("\n").length).toBeLessThan(50_000);
});
