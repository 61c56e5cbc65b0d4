// Plain JavaScript, since all that is run here starts from this file, with nothing before it that could read TypeScript.
const { createHash } = require("node:crypto");
const {
    existsSync,
    mkdirSync,
    readdirSync,
    readFileSync,
    renameSync,
    rmSync,
    statSync,
    writeFileSync,
} = require("node:fs");
const Module = require("node:module");
const { dirname, join, relative, resolve, sep } = require("node:path");
const { setFlagsFromString } = require("node:v8");
const { Script } = require("node:vm");
const { brotliCompressSync } = require("node:zlib");

const project = join(__dirname, "..");
const cache = join(project, "node_modules", ".cache", "chaos-shop");
const target = { platform: "node", target: "node20", format: "cjs" };
// What a program serves to browsers as it is.
const loader = { ".html": "text", ".css": "text", ".svg": "text", ".browser.js": "text" };

/** @type {import("./bundle").bundledFile} */
const bundledFile = (exports.bundledFile = (entry) => {
    const { name, sources } = sourcesOf(entry);
    return cached(name, ".js", sources, (outfile) => {
        require("esbuild").buildSync({
            ...target,
            loader,
            bundle: true,
            minify: true,
            entryPoints: [entry],
            outfile,
            logOverride: { "empty-import-meta": "silent" },
        });
    });
});

/** @type {import("./bundle").packedFile} */
exports.packedFile = (entry) => {
    const { name, sources } = sourcesOf(entry);
    return cached(`${name}-packed`, ".js.br", sources, (outfile) =>
        writeFileSync(outfile, brotliCompressSync(readFileSync(bundledFile(entry)))),
    );
};

/** What the programs of a folder are made of; a package is as package-lock.json says. */
const sourcesOfFolder = { node_modules: [], sandbox: [join("sandbox", "pulumi"), "shared"] };

function sourcesOf(entry) {
    const path = relative(project, resolve(entry));
    return {
        name: path.replace(/\W+/g, "-"),
        sources: sourcesOfFolder[path.split(sep)[0]] ?? ["services", "experiments", "shared"],
    };
}

const loaded = new Map();

/** @type {import("./bundle").requireBundled} */
exports.requireBundled = (entry) => {
    if (!loaded.has(entry)) loaded.set(entry, loadBundle(bundledFile(entry)));
    return loaded.get(entry);
};

function loadBundle(file) {
    const compiledFile = `${file}.compiled`;
    const cachedData = existsSync(compiledFile) ? readFileSync(compiledFile) : undefined;
    // esbuild writes ASCII alone, which Node reads faster as such.
    const script = new Script(Module.wrap(readFileSync(file, "latin1")), { filename: file, cachedData });
    if (cachedData === undefined || script.cachedDataRejected) {
        // At the end, when all functions that it needs have been compiled; V8 would have forgotten those by then that have
        // not run for a while. What it made with other flags it does not take, so this one is set back before.
        setFlagsFromString("--no-flush-bytecode");
        process.once("exit", () => {
            setFlagsFromString("--flush-bytecode");
            replaceFile(compiledFile, script.createCachedData());
        });
    }
    const module = { exports: {} };
    script
        .runInThisContext()
        .call(module.exports, module.exports, Module.createRequire(file), module, file, dirname(file));
    return module.exports;
}

/** What is compiled together: the stack's program, and what `npm run` runs beside it. */
const compiledTogether = {
    program: ["index.ts", "components", "experiments", "shared"],
    commands: ["cli", "sandbox", "bench", join("test", "all.ts")],
};

/** @type {import("./bundle").compiledFile} */
exports.compiledFile = (file) => {
    const path = relative(project, file);
    const set = Object.entries(compiledTogether).find(([, sources]) =>
        sources.some((source) => path === source || path.startsWith(source + sep)),
    );
    if (!set)
        throw new Error(
            `${path} is in none of the folders whose TypeScript is run: ${Object.values(compiledTogether).flat().join(", ")}`,
        );
    const [name, sources] = set;
    const folder = cached(name, "", sources, (outdir) => {
        const entryPoints = sources.map((source) => (source.endsWith(".ts") ? source : `${source}/**/*.ts`));
        require("esbuild").buildSync({
            ...target,
            entryPoints,
            outdir,
            outbase: project,
            absWorkingDir: project,
            sourcemap: "inline",
        });
    });
    return join(folder, path.replace(/\.ts$/, ".js"));
};

/**
 * The path of something that is made from sources, made where it is not there for them as they are now. That of earlier
 * ones goes.
 */
function cached(name, extension, sources, make) {
    const folder = join(cache, name);
    const path = join(folder, `${fingerprint(sources)}${extension}`);
    if (existsSync(path)) return path;
    mkdirSync(folder, { recursive: true });
    const unfinished = join(folder, `unfinished-${process.pid}`);
    make(unfinished);
    // Not what another process has made of the same sources meanwhile, and is about to read.
    const old = readdirSync(folder).filter(
        (other) => !other.startsWith("unfinished") && !other.startsWith(fingerprint(sources)),
    );
    for (const other of old) rmSync(join(folder, other), { recursive: true, force: true });
    try {
        renameSync(unfinished, path);
    } catch (error) {
        // Another process was quicker.
        rmSync(unfinished, { recursive: true });
        if (!existsSync(path)) throw error;
    }
    return path;
}

/** Writes a file that others may read meanwhile. One that cannot be written is done without. */
function replaceFile(path, content) {
    const unfinished = `${path}-${process.pid}`;
    try {
        writeFileSync(unfinished, content);
        renameSync(unfinished, path);
    } catch {
        rmSync(unfinished, { force: true });
    }
}

const fingerprints = new Map();

/** Tells versions of source files apart, and of the packages that they import. */
function fingerprint(sources) {
    const key = sources.join();
    if (!fingerprints.has(key)) {
        const hash = createHash("sha256");
        for (const file of [...sources, "package-lock.json"].flatMap(filesOf))
            hash.update(`${file}\n`).update(readFileSync(join(project, file)));
        fingerprints.set(key, hash.digest("hex").slice(0, 16));
    }
    return fingerprints.get(key);
}

/** The path itself where it is a file, else all program files below it. */
function filesOf(path) {
    if (statSync(join(project, path)).isFile()) return [path];
    const inside = readdirSync(join(project, path), { recursive: true }).filter((file) =>
        /\.(?:[jt]s|html|css|svg)$/.test(file),
    );
    return inside.map((file) => join(path, file)).sort();
}
