import { runPacked } from "../packed";

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
