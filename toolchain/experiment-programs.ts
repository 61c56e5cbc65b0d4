import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ExperimentPrograms } from "../chaos/pods/built-programs";
import { bundledFile, packedBundle } from "./bundle";

const bundle = (path: string) =>
    readFileSync(bundledFile(join(__dirname, "..", "chaos", path), { minify: false }), "utf8");

/** How an experiment's programs are run from this repository, where nothing is built. */
export const experimentPrograms = (): ExperimentPrograms => ({
    stepCommand: "node toolchain/run-step.js",
    steps: packedBundle(join(__dirname, "..", "chaos", "run", "steps-program.ts")),
    deadline: bundle("witness/job-program.ts"),
    proxy: bundle("kinds/attacks/fault/proxy/proxy-program.ts"),
});
