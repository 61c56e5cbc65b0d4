import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { packed, printAgain, runFromInput } from "../../../../chaos/pods/packed";

/** Runs a command as the command provider does, far from this repository. */
const run = (command: string, { stdout, stdin }: { stdout?: string; stdin?: string } = {}) =>
    spawnSync("/bin/sh", ["-c", command], {
        cwd: "/",
        input: stdin,
        env: { PATH: process.env.PATH, ...(stdout !== undefined && { PULUMI_COMMAND_STDOUT: stdout }) },
        encoding: "utf8",
    });

it.each(['{"verdict":"PASSED"}', `quotes ' and " and $HOME and \`id\``, "two\nlines"])(
    "a changed step prints what it printed before: %j",
    (stdout) => expect(run(printAgain, { stdout }).stdout).toBe(stdout),
);

it("a changed step that printed nothing prints nothing", () => expect(run(printAgain).stdout).toBe(""));

it("undoing needs nothing but Node and the program in the state", () => {
    const program = `const { gzipSync } = require("node:zlib"); const unused = "${"ä".repeat(200_000)}";
        process.stdout.write([typeof gzipSync, unused.length, process.argv.at(-1)].join());`;
    const { stdout, stderr } = run(`${runFromInput} recovery`, { stdin: packed(program) });
    expect(stderr).toBe("");
    expect(stdout).toBe("function,200000,recovery");
});
