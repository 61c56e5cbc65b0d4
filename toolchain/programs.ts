import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ExperimentPrograms } from "../chaos/experiment";
import { bundledFile } from "./bundle";

/** How an experiment's programs are run from this repository, where nothing is built. */
export function experimentPrograms(): ExperimentPrograms {
    const deadline = bundledFile(join(__dirname, "..", "chaos", "deadline", "main.ts"), { minify: false });
    return { stepCommand: "node toolchain/run-step.js", deadline: readFileSync(deadline, "utf8") };
}
