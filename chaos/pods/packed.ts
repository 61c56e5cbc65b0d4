import { brotliCompressSync, gzipSync } from "node:zlib";

/** JavaScript that runs a program. @param unpacked JavaScript for its bytes */
const runPacked = (unpacked: string) => `eval(require('zlib').${unpacked}.toString())`;

/**
 * A pod's program as a ConfigMap has it: compressed, so that a preview shows it in one line and the state has little of
 * it; the volume; and the arguments for Node that run it.
 */
export function podProgram(program: string) {
    const file = "program.js.gz";
    const mountPath = "/program";
    return {
        binaryData: { [file]: zipped(program) },
        volumeMounts: [{ name: "program", mountPath, readOnly: true }],
        args: ["--eval", runPacked(`gunzipSync(require('fs').readFileSync('${mountPath}/${file}'))`)],
    };
}

/** The arguments for Node that run a small program which they have themselves. */
export const inlineProgram = (program: string): string[] => [
    "--eval",
    runPacked(`gunzipSync(Buffer.from('${zipped(program)}','base64'))`),
];

const zipped = (program: string) => gzipSync(program, { level: 9 }).toString("base64");

/**
 * A program as `runFromInput` takes it: compressed, as base64. It takes a second: a
 * build does it.
 */
export const packed = (program: string | Uint8Array): string => brotliCompressSync(program).toString("base64");

/** Of a file that has a program compressed: `packed` is its base64. */
export const compressedEnding = ".br";
/** In the package, the programs of pods. */
export const podProgramsFile = `pods.json${compressedEnding}`;

/**
 * Commands that need nothing but Node and what the stack's state has: an experiment can be undone from any folder, on
 * any machine, after the program and this package were removed. In double quotes, without `$` and backticks, they are
 * the same to sh and to Windows' cmd.
 */

/** Prints what the step printed before. So nothing that changes a step, but its plan, makes it run again. */
export const printAgain = `node -e "process.stdout.write(process.env.PULUMI_COMMAND_STDOUT || '')"`;

export const doNothing = "exit 0";

const unpacked = (bytes: string) => runPacked(`brotliDecompressSync(${bytes})`);

/** The command that runs a step of the program in its standard input; the step's name is appended. */
export const runFromInput = `node -e "${unpacked("Buffer.from(require('fs').readFileSync(0, 'latin1'), 'base64')")}"`;

/** JavaScript of a file that runs the compressed program beside it. */
export const runBeside = `${unpacked(`require('fs').readFileSync(__filename + '${compressedEnding}')`)};\n`;
