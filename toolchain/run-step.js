// Runs one step of an experiment: node toolchain/run-step.js STEP. In JavaScript: nothing has read TypeScript yet.

// Stacks of versions up to 0.2 have this step in their state. An update removes their labels before; see
// experiments/earlier-runs.ts.
if (process.argv.at(-1) === "unlabel-targets") process.exit(0);

require("tsx/cjs");
const { bundledFile } = require("./bundle.ts");

require(bundledFile(`${__dirname}/../chaos/steps/main.ts`));
