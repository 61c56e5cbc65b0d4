// Runs one step of an experiment: node toolchain/run-step.js STEP. In JavaScript: nothing has read TypeScript yet.

require("tsx/cjs");
const { bundledFile } = require("./bundle.ts");

require(bundledFile(`${__dirname}/../chaos/run/steps-program.ts`));
