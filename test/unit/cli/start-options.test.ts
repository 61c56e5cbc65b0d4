import { expect, it } from "vitest";
import { inOrder } from "../../support/in-order";
import { runProgram } from "../../support/run-program";

/** A mistake must be told before anything is touched: here there is neither a cluster nor a home for one. */
const env = { PATH: process.env.PATH, KUBECONFIG: "/dev/null", HOME: "/dev/null" };

it.each(["start", "demo"])("`npm run %s` refuses arguments that it would not heed", async (program) => {
    const { code, stdout, stderr } = await runProgram(program, ["--set", "namespace=mine"], env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(inOrder("omit --set namespace=…. ", `\nSee: npm run ${program} -- --help\n`));
    expect(await runProgram(program, ["--help"], env)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/Exit codes:.* 2 +wrong argument/s),
    });
});
