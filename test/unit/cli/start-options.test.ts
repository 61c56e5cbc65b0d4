import { execFile } from "node:child_process";
import { expect, it } from "vitest";
import { project } from "../../../cli/stack-file";
import { inOrder } from "../../support/in-order";

/** Runs a program that has no options. */
const run = (program: string, ...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> =>
    new Promise((resolve) =>
        execFile(
            process.execPath,
            ["--import", "tsx", `cli/${program}.ts`, ...args],
            // A mistake must be told before anything is touched: here there is neither a cluster nor a home for one.
            {
                cwd: project,
                env: { PATH: process.env.PATH, KUBECONFIG: "/dev/null", HOME: "/dev/null" },
                timeout: 15_000,
            },
            (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }),
        ),
    );

it.each(["start", "demo"])("`npm run %s` refuses arguments that it would not heed", async (program) => {
    const { code, stdout, stderr } = await run(program, "--set", "namespace=mine");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(inOrder("omit --set namespace=…. ", `\nSee: npm run ${program} -- --help\n`));
    expect(await run(program, "--help")).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/Exit codes:.* 2 +wrong argument/s),
    });
});
