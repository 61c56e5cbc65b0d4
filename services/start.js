// Packed: the state holds three copies of each ConfigMap. Unpacked, an update takes 1 s longer.
// Runs the program that is packed beside this file: node start.js [NAME]. NAME selects a program, if the bundle holds
// several.
const { readFileSync } = require("node:fs");
const { compileFunction } = require("node:vm");
const { gunzipSync } = require("node:zlib");

const source = gunzipSync(readFileSync(`${__dirname}/main.js.gz`)).toString("utf8");
const run = compileFunction(source, ["require", "module", "exports"], { filename: `${__dirname}/main.js` });
const module_ = { exports: {} };
run(require, module_, module_.exports);
