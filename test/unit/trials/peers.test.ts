import { describe, expect, it } from "vitest";
import {
    type Answer,
    answerOfChaosToolkit,
    answerOfOurs,
    type Journal,
    markOf,
} from "../../../test/trials/peers/answer";
import { secondsOf } from "../../../test/trials/peers/ask";
import { questions } from "../../../test/trials/peers/questions";
import { describeAsked, type PeerResult, peersTable } from "../../../test/trials/peers/results";

const state = (met: boolean, name = "products-are-listed") => ({
    probes: [{ activity: { name }, tolerance_met: met }],
});
const journal = (changes: Partial<Journal> = {}): Journal => ({
    status: "completed",
    deviated: false,
    steady_states: { before: state(true), during: [state(true)], after: state(true) },
    ...changes,
});
const ended = (code: number | null, printed = "") => ({ code, printed });

describe("what Chaos Toolkit says", () => {
    it("is that the application passed, if it completed without a deviation", () =>
        expect(answerOfChaosToolkit(journal(), ended(0))).toEqual({ said: "passed", words: "`completed`, exit 0" }));

    it("is that it failed, if the probe of the application deviated at any time", () =>
        expect(
            answerOfChaosToolkit(
                journal({ deviated: true, steady_states: { during: [state(true), state(false)] } }),
                ended(1),
            ),
        ).toEqual({ said: "failed", words: "`deviated`, exit 1" }));

    it("is nothing of the application, if only another probe deviated", () =>
        expect(
            answerOfChaosToolkit(
                journal({ deviated: true, steady_states: { during: [state(true), state(false, "count")] } }),
                ended(1),
            ),
        ).toEqual({ said: "nothing", words: "`deviated`, exit 1: count" }));

    it("has a hint in the first error of its log, without colors", () =>
        expect(
            answerOfChaosToolkit(
                journal(),
                ended(0, "[2026-11-29 12:00:00 INFO] a\n\u001b[31m[2026 ERROR] b\u001b[0m\n"),
            ),
        ).toEqual({ said: "passed", words: "`completed`, exit 0", hint: "b" }));

    it("is nothing without a journal", () => expect(answerOfChaosToolkit(undefined, ended(null)).said).toBe("nothing"));
});

describe("what this project says", () => {
    it("is ABORTED, if the update fails by that", () =>
        expect(answerOfOurs(undefined, ended(255, "error: ABORTED (no-target): …"))).toEqual({
            said: "nothing",
            words: "ABORTED (no-target), exit 255",
        }));

    it("has a hint if established connections survived", () =>
        expect(
            answerOfOurs(
                {
                    verdict: "PASSED",
                    reason: "",
                    established: [{ attack: "blackhole", direction: "inward", became: "survived" }],
                },
                ended(0),
            ),
        ).toEqual({ said: "passed", words: "PASSED", hint: "Established connections (inward): survived" }));
});

describe("an answer", () => {
    const passed: Answer = { said: "passed", words: "" };
    it.each([
        ["right, if it is what the question calls right", passed, "passed", "right"],
        ["wrong otherwise", passed, "nothing", "wrong"],
        ["partly right, if the output has a hint", { ...passed, hint: "it survived" }, "nothing", "partly"],
    ] as const)("is %s", (_, answer, right, mark) => expect(markOf({ right: () => right }, 0, answer)).toBe(mark));

    it("that it failed is right with an allow policy only if the pod was cut off all the same", () => {
        const question = questions.find(({ name }) => name === "allow-policy")!;
        expect([0, 20].map((seconds) => markOf(question, seconds, { said: "failed", words: "" }))).toEqual([
            "wrong",
            "right",
        ]);
    });
});

describe("the seconds for which an attack lasted", () => {
    const changes = [
        { at: 1_000, works: true },
        { at: 3_000, works: false },
        { at: 3_100, works: true },
        { at: 3_200, works: false },
        { at: 5_000, works: true },
        { at: 9_000, works: false },
    ];
    it.each([
        ["no connection fails", 0, 2_000, 0],
        ["some fail, with others between them", 0, 8_000, 2],
        ["they still fail", 6_000, 10_000, 1],
    ])("are those from the first failed connection to the last: %s", (_, from, to, expected) =>
        expect(secondsOf(changes, from, to)).toBe(expected),
    );
});

describe("the table", () => {
    const result = (changes: Partial<PeerResult>): PeerResult => ({
        ...{ question: "one-replica", tool: "a", said: "failed", words: "FAILED", seconds: 20.4, mark: "right" },
        ...{ commit: "1", at: "" },
        ...changes,
    });
    const row = (...results: PeerResult[]) =>
        peersTable(questions.slice(0, 1), results)
            .split("\n")[2]!
            .split("|")
            .map((cell) => cell.trim());

    it("has the last result of each tool", () =>
        expect(row(result({ mark: "wrong" }), result({ tool: "b", seconds: 3 }), result({}))).toEqual([
            "",
            "none, one replica",
            "`/products` fails (20, 3 s)",
            "FAILED",
            "FAILED",
            "",
        ]));

    it("shows what is wrong, and what is partly right with the reason", () =>
        expect(row(result({ mark: "wrong" }), result({ tool: "b", mark: "partly", hint: "so" })).slice(3, 5)).toEqual([
            "**FAILED: wrong**",
            "**FAILED: partly right**, since it prints “so”",
        ]));

    it("has under it when and at which commits it was asked", () => {
        const asked = (...results: PeerResult[]) => describeAsked(questions, results);
        const [first, second] = ["2026-11-28T12:00:00.000Z", "2026-11-29T12:00:00.000Z"];
        expect(asked(result({ at: first }), result({ at: second, commit: "2" }))).toBe(
            "Asked on 2026-11-29, at commit `2`.\n",
        );
        expect(asked(result({ at: second }), result({ at: first, tool: "b", commit: "2" }))).toBe(
            "Asked from 2026-11-28 to 2026-11-29, at commits `1`, `2`.\n",
        );
    });
});
