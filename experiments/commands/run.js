// Runs one step of an experiment: node experiments/commands/run.js STEP
//
// A step is a process of its own, and there are several in an update. From a bundle each starts in a fifth of the time
// that it takes to read TypeScript and a thousand modules of the Kubernetes client one by one.
const { join } = require("node:path");
const { requireBundled } = require("../../shared/bundle");

requireBundled(join(__dirname, `${process.argv[2]}.ts`));
