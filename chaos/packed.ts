import { gzipSync } from "node:zlib";

/** JavaScript that runs a program. @param bytes JavaScript for its compressed bytes */
const runPacked = (bytes: string) => `eval(require('zlib').gunzipSync(${bytes}).toString())`;

/**
 * A pod's program as a ConfigMap has it: compressed, so that a preview shows it in one line and the state has little of
 * it; the volume; and the arguments for Node that run it.
 */
export function podProgram(program: string) {
    const file = "program.js.gz";
    const mountPath = "/program";
    return {
        binaryData: { [file]: packed(program) },
        volumeMounts: [{ name: "program", mountPath, readOnly: true }],
        args: ["--eval", runPacked(`require('fs').readFileSync('${mountPath}/${file}')`)],
    };
}

const packings = new Map<string, string>();

/** A program compressed, as base64. Packed once for all steps of a program: it takes 0.2 s. */
export function packed(program: string): string {
    const known = packings.get(program) ?? gzipSync(program, { level: 9 }).toString("base64");
    packings.set(program, known);
    return known;
}

/**
 * Commands that need nothing but Node and what the stack's state has: an experiment can be undone from any folder, on
 * any machine, after the program and this package were removed. In double quotes, without `$` and backticks, they are
 * the same to sh and to Windows' cmd.
 */

/** Prints what the step printed before. So nothing that changes a step, but its plan, makes it run again. */
export const printAgain = `node -e "process.stdout.write(process.env.PULUMI_COMMAND_STDOUT || '')"`;

export const doNothing = 'node -e ""';

/** The command that runs a step of the program in its standard input; the step's name is appended. */
export const runFromInput = `node -e "${runPacked("Buffer.from(require('fs').readFileSync(0, 'latin1'), 'base64')")}"`;
