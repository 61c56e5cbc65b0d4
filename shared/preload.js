/**
 * Loaded before the stack's program (`nodeargs` in Pulumi.yaml) to have it begin sooner, in every preview and update.
 * Without it, and with `typescript: true` there, the program does the same.
 */
const Module = require("node:module");
const { readFileSync } = require("node:fs");
const { join, relative } = require("node:path");
const { bundledFile, compiledProgram } = require("./bundle");

const project = join(__dirname, "..");

// TypeScript without its compiler, which takes longer to load than the program to run. `npm run typecheck` checks types.
process.setSourceMapsEnabled(true);
require.extensions[".ts"] = (module, file) => {
    const compiled = join(compiledProgram(), relative(project, file).replace(/\.ts$/, ".js"));
    module._compile(readFileSync(compiled, "utf8"), file);
};

const load = Module._load;
Module._load = function (name, ...rest) {
    const loaded = () => load.call(this, name, ...rest);
    switch (name) {
        // Reads several hundred files where it is not in one.
        case "@kubernetes/client-node":
            return load.call(this, bundledFile(require.resolve(name)), ...rest);
        // The SDK loads these two for turning functions into resources, which this program does not do.
        case "typescript":
        case "@npmcli/arborist":
            return new Proxy({}, { get: (_, member) => member === "__esModule" || loaded()[member] });
        default:
            return loaded();
    }
};
