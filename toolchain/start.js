/**
 * Starts a program of this repository from one file, which is bundled anew if a source has changed:
 *
 *     node toolchain/start.js cli/experiment.ts --list
 *
 * It begins after 0.3 s of processor time, and after 1.6 s if each of its files is read as TypeScript.
 */
const { execFileSync } = require("node:child_process");
const { runMain } = require("node:module");
const { join } = require("node:path");
const { bundlePath, isCurrent, project } = require("./bundle-cache");
const { loadWhenUsed } = require("./load-when-used");

/**
 * The file to load for a program. One that cannot be bundled is loaded from its sources: what does not compile may be a
 * file that it does not use, such as a saved experiment where an attack is to be ended.
 */
exports.fileOf = (entry) => {
    // The SDK loads them for resources that are functions, of which these programs have none.
    loadWhenUsed(["typescript", "@npmcli/arborist"]);
    const bundle = bundlePath(join(project, entry), "-program.js");
    try {
        const make = ["--import", "tsx", "toolchain/bundle-program.ts", entry, bundle];
        if (!isCurrent(bundle)) execFileSync(process.execPath, make, { cwd: project, stdio: "ignore" });
        return bundle;
    } catch {
        require("tsx/cjs");
        return join(project, entry);
    }
};

if (require.main === module) {
    const [node, , entry, ...args] = process.argv;
    process.argv = [node, exports.fileOf(entry), ...args];
    runMain();
}
