import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ExperimentPrograms } from "../chaos/programs";
import { bundledFile } from "./bundle";

const bundle = (path: string, minify: boolean) =>
    readFileSync(bundledFile(join(__dirname, "..", "chaos", path), { minify }), "utf8");

/** How an experiment's programs are run from this repository, where nothing is built. */
export const experimentPrograms = (): ExperimentPrograms => ({
    stepCommand: "node toolchain/run-step.js",
    steps: bundle("steps/main.ts", true),
    deadline: bundle("job/main.ts", false),
    proxy: bundle("attacks/fault/proxy/main.ts", false),
});
