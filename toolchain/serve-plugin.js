/** Serves the package in chaos/ as a plugin, from its sources: chaos/plugin.js of a checkout uses it. */
const { join } = require("node:path");
const { project } = require("./bundle-cache");
const { bundledModule } = require("./bundled-module");

/** @param {string} folder of the package */
module.exports = (folder) => {
    const plugin = bundledModule(join(folder, "face", "plugin.ts"));
    const programs = bundledModule(join(project, "toolchain", "experiment-programs.ts"));
    if (plugin === undefined || programs === undefined)
        throw new Error(
            `the package in ${folder} cannot be bundled; to see why, run in ${project}: npm run check:types`,
        );
    // The project of a program that uses the plugin is another folder.
    return plugin.servePlugin({ folder, programs: programs.programsFromAnywhere });
};
