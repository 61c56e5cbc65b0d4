/**
 * Serves the component to Pulumi programs in other languages. Pulumi takes `main` of package.json for the plugin, and
 * runs the function that it exports. Programs in JavaScript get what `exports` there names.
 */
const { existsSync } = require("node:fs");
const { join } = require("node:path");

/** In a checkout, nothing is built. */
const checkout = join(__dirname, "..", "toolchain", "serve-plugin.js");
const built = join(__dirname, "dist", "face", "plugin.js");

module.exports = () =>
    existsSync(join(__dirname, "face")) && existsSync(checkout)
        ? require(checkout)(__dirname)
        : require(built).servePlugin({ folder: __dirname });
