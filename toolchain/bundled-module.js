// In JavaScript, since programs that Pulumi starts use it before anything reads TypeScript.
const { execFileSync } = require("node:child_process");
const { realpathSync } = require("node:fs");
const { dirname, join } = require("node:path");
const { bundlePath, isCurrent, project } = require("./bundle-cache");

/**
 * What a TypeScript file exports, loaded from one file that is bundled again if a source has changed.
 *
 * @param {string} entry
 * @returns undefined if it cannot be bundled
 */
exports.bundledModule = (entry) => {
    const bundle = bundlePath(entry, "-program.js");
    try {
        if (!isCurrent(bundle)) make(entry, bundle);
        // Another checkout may share the folder by a link, and its bundle finds the files of that one.
        const inProject = bundle.slice(project.length);
        if (dirname(realpathSync(bundle)) !== dirname(realpathSync(project) + inProject)) return undefined;
    } catch {
        return undefined;
    }
    return require(bundle);
};

/** Below Pulumi's time limits, and not with a debugger that somebody has meant for the program. */
function make(entry, bundle) {
    const { NODE_OPTIONS: _, ...env } = process.env;
    const args = ["--import", "tsx", join("toolchain", "bundle-program.ts"), entry, bundle];
    execFileSync(process.execPath, args, { cwd: project, env, stdio: "ignore", timeout: 60_000 });
}
