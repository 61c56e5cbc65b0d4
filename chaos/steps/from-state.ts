import { gzipSync } from "node:zlib";

/**
 * Commands that need nothing but Node and what the stack's state has: an experiment can be undone from any folder, on
 * any machine, after the program and this package were removed. In double quotes, without `$` and backticks, they are
 * the same to sh and to Windows' cmd.
 */

/** Prints what the step printed before. So nothing that changes a step, but its plan, makes it run again. */
export const printAgain = `node -e "process.stdout.write(process.env.PULUMI_COMMAND_STDOUT || '')"`;

export const doNothing = 'node -e ""';

/** The command that runs a step of the program in its standard input; the step's name is appended. */
export const runFromInput = `node -e "${[
    "const packed = Buffer.from(require('fs').readFileSync(0, 'latin1'), 'base64')",
    "eval(require('zlib').gunzipSync(packed).toString())",
].join("; ")}"`;

const packings = new Map<string, string>();

/** A program as the standard input of that command. Packed once for all steps of a program: it takes 0.2 s. */
export function packed(program: string): string {
    const known = packings.get(program) ?? gzipSync(program, { level: 9 }).toString("base64");
    packings.set(program, known);
    return known;
}
