// In JavaScript, since start-program.js uses it before anything reads TypeScript. What it exports is told in its .d.ts.
const { createHash } = require("node:crypto");
const { readdirSync, readFileSync, statSync } = require("node:fs");
const { join, relative, resolve } = require("node:path");

const project = join(__dirname, "..");
const cache = join(project, "node_modules", ".cache", "chaos-shop");

const bundlePath = (entry, ending) => join(cache, relative(project, resolve(entry)).replace(/\W+/g, "-") + ending);

const hashesPath = (bundle) => `${bundle}.hashes.json`;

/** What an import can be resolved to. */
const isSource = (name) => /\.(?:[cm]?[jt]sx?|json)$/.test(name);

function hashOf(path) {
    const full = join(project, path);
    const isFolder = statSync(full).isDirectory();
    const content = isFolder ? readdirSync(full).filter(isSource).sort().join("/") : readFileSync(full);
    return createHash("sha256").update(content).digest("hex");
}

function isCurrent(bundle) {
    try {
        const hashes = JSON.parse(readFileSync(hashesPath(bundle), "utf8"));
        return (
            relative(project, bundle) in hashes && Object.entries(hashes).every(([path, hash]) => hashOf(path) === hash)
        );
    } catch {
        return false;
    }
}

module.exports = { project, bundlePath, hashesPath, hashOf, isCurrent };
