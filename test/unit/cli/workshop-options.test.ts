import { describe, expect, it } from "vitest";
import { workshopOptions } from "../../../cli/workshop";

const optionsOf = (...args: string[]) => workshopOptions(args, () => 5);

describe("the arguments of `npm run workshop`", () => {
    it("ask for a list, for the preparation of one exercise, or for a check of some or all", () => {
        expect(optionsOf()).toEqual({ does: "list", numbers: [1, 2, 3, 4, 5], settings: {}, stack: "local" });
        expect(optionsOf("3", "--stack", "cloud")).toMatchObject({ does: "prepare", numbers: [3], stack: "cloud" });
        expect(optionsOf("--check")).toMatchObject({ does: "check", numbers: [1, 2, 3, 4, 5] });
        expect(optionsOf("--check", "4", "1", "4", "--set", "namespace=a")).toMatchObject({
            does: "check",
            numbers: [1, 4],
            settings: { namespace: "a" },
        });
    });

    it("are refused with all their mistakes, before anything is touched", () => {
        const mistakes = [
            'there is no exercise "6"; allowed: 1 to 5',
            'there is no exercise "two"; allowed: 1 to 5',
            "name one exercise, or check several: npm run workshop -- --check",
            "--set replicas.hot-deals would make another exercise: omit it",
            "--set experiment.radius would make another exercise: omit it",
        ];
        expect(() => optionsOf("6", "two", "--set", "replicas.hot-deals=3", "--set", "experiment.radius=2")).toThrow(
            new Error(mistakes.join("\n")),
        );
        expect(() => optionsOf("1", "2", "--stack", "cloud")).toThrow("npm run workshop -- --check --stack cloud");
        expect(() => optionsOf("1", "--set", "shutdown.delay")).toThrow(
            "--set shutdown.delay is not KEY=VALUE; example: --set experiment.radius=50%",
        );
        expect(() => optionsOf("--nonsense")).toThrow("unknown option '--nonsense'");
    });
});
