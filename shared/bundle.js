// Plain JavaScript, since the steps of an experiment start from here with nothing before it that could read TypeScript.
const { createHash } = require("node:crypto");
const { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } = require("node:fs");
const { join, relative, resolve } = require("node:path");

const project = join(__dirname, "..");
const cache = join(project, "node_modules", ".cache", "chaos-shop");
/** What a bundle is made of: all that a program may import, its packages by the lock file that pins them. */
const sourceFolders = ["services", "experiments", "shared"];
let fingerprint;

/** @type {import("./bundle").bundledFile} */
exports.bundledFile = (entry) => {
    fingerprint ??= fingerprintOfSources();
    const name = relative(project, resolve(entry)).replace(/\W+/g, "-");
    const file = join(cache, `${name}-${fingerprint}.js`);
    if (!existsSync(file)) {
        const unfinished = `${file}.${process.pid}`;
        mkdirSync(cache, { recursive: true });
        const options = { bundle: true, minify: true, platform: "node", target: "node20", format: "cjs" };
        require("esbuild").buildSync({ ...options, entryPoints: [entry], outfile: unfinished, logOverride: { "empty-import-meta": "silent" } });
        for (const old of readdirSync(cache).filter((other) => /-[0-9a-f]{16}\.js$/.test(other) && other.startsWith(`${name}-`))) rmSync(join(cache, old), { force: true });
        renameSync(unfinished, file);
    }
    return file;
};

function fingerprintOfSources() {
    const sources = sourceFolders.flatMap((folder) =>
        readdirSync(join(project, folder), { recursive: true })
            .filter((file) => /\.[jt]s$/.test(file))
            .map((file) => join(folder, file))
            .sort(),
    );
    const hash = createHash("sha256");
    for (const file of [...sources, "package-lock.json"]) hash.update(`${file}\n`).update(readFileSync(join(project, file)));
    return hash.digest("hex").slice(0, 16);
}
