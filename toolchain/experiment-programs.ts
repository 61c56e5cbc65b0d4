import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { ExperimentPrograms } from "../chaos/pods/built-programs";
import { quote } from "shlex";
import { bundledFile, packedBundle } from "./bundle";
import { project } from "./bundle-cache";

const steps = join(project, "chaos", "run", "steps-program.ts");
const readable = (path: string) => readFileSync(bundledFile(join(project, "chaos", path), { minify: false }), "utf8");

/** How an experiment's programs are run from this repository, where nothing is built. */
export const experimentPrograms = (): ExperimentPrograms => ({
    // A step runs in the update whose program has just bundled it.
    stepCommand: `node ${relative(project, bundledFile(steps)).replaceAll("\\", "/")}`,
    steps: packedBundle(steps),
    deadline: readable("witness/job-program.ts"),
    proxy: readable("kinds/attacks/fault/proxy/proxy-program.ts"),
    // A pod has it in its arguments.
    sender: readFileSync(bundledFile(join(project, "chaos", "kinds/actions/load/sender/send-program.ts")), "utf8"),
});

/** For programs of projects in other folders. */
export const programsFromAnywhere = (): ExperimentPrograms => ({
    ...experimentPrograms(),
    stepCommand: `node ${quote(bundledFile(steps))}`,
});
