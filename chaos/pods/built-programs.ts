import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { compressedEnding, podProgramsFile } from "./packed";

export interface ExperimentPrograms {
    /** The command that runs a step; the step's name is appended. */
    stepCommand: string;
    /** The program of the steps, as `packed`. The state keeps it, to undo the experiment. */
    steps: string;
    /** The deadline Job's program: JavaScript for Node, in one file. */
    deadline: string;
    /** The program of the proxy that faults requests: JavaScript for Node, in one file. */
    proxy: string;
    /** The program that sends a load: JavaScript for Node, in one small file. */
    sender: string;
}

type PodPrograms = Pick<ExperimentPrograms, "deadline" | "proxy" | "sender">;

/** The programs that the package's build has left in `dist/programs`. Code is in other folders of `dist`. */
export function builtPrograms(): ExperimentPrograms {
    const path = (name: string) => join(__dirname, "..", "programs", name);
    const steps = path("steps.js");
    return {
        stepCommand: `node ${shellQuoted(steps)}`,
        steps: readFileSync(steps + compressedEnding).toString("base64"),
        ...(JSON.parse(brotliDecompressSync(readFileSync(path(podProgramsFile))).toString()) as PodPrograms),
    };
}

/** Quotes a path for the shell of a command resource: in double quotes, sh would expand `$` and backticks. */
export const shellQuoted = (path: string, platform: NodeJS.Platform = process.platform) =>
    platform === "win32" ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
