import { describe, expect, it } from "vitest";
import { Program } from "../../../cli/command";

const program = new Program("shop", [
    [0, "done"],
    [2, "wrong argument"],
])
    .description("Opens the shop.")
    .takesStack()
    .takesMany("--set <KEY=VALUE>", "a setting")
    .option("--json", "as `JSON`");
const read = (...args: string[]) => program.read(args);

describe("the arguments of a program", () => {
    it("have defaults, and are read anew each time", () => {
        expect(read("--set", "a=1", "--set", "b=2", "--json")).toEqual({
            set: ["a=1", "b=2"],
            stack: "local",
            json: true,
        });
        expect(read()).toEqual({ set: [], stack: "local" });
    });

    it.each([
        [["--jsn"], "unknown option '--jsn'\n(Did you mean --json?)"],
        [["twice"], /^too many arguments/],
        [["--stack"], /^--stack needs a value; allowed: --stack <NAME>, the stack$/],
        [["--set"], /^--set needs a value; allowed: --set <KEY=VALUE>, a setting; may be repeated$/],
        [["--stack", "--json"], /^--stack needs a value before --json; allowed: --stack <NAME>, the stack$/],
        [["--set", "--agent.key=hush"], /^--set needs a value before --agent.key=…; allowed: /],
    ])("%j are refused", (args, message) => expect(() => read(...args)).toThrow(message));

    it("that do not exist are told without their value, which may be a secret", () => {
        expect(() => read("--agent.key=hush-hush")).toThrow(/^unknown option '--agent.key'$/);
        expect(() => read("--agent.key=it's 'hush'\nhush")).not.toThrow(/hush/);
    });
});

it("a program's help has its options with their defaults, and its exit codes", () => {
    let help = "";
    program.configureOutput({ writeOut: (text) => (help += text) });
    expect(() => read("--help")).toThrow("outputHelp");
    expect(help).toMatch(/^Usage: npm run shop -- \[options\]\n\nOpens the shop\.\n/);
    expect(help).toMatch(/--stack <NAME> +the stack\. Default: local\n.*as JSON\n/s);
    expect(help).toMatch(/\nExit codes:\n  0    done\n  2    wrong argument\n$/);
});
