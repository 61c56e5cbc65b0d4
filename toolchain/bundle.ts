/**
 * Bundles a TypeScript program and its imports into one file, with esbuild. A pod has no node_modules, and a step of an
 * experiment starts in 0.15 s from one file, in 1.1 s from a thousand.
 *
 * Bundles are cached below node_modules/.cache and rebuilt when a source changes: bundling the shop's programs takes
 * 1 s, which each preview would pay otherwise. esbuild lists the sources.
 */
import { buildSync } from "esbuild";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { packed, packedEnding } from "../chaos/pods/packed";

const project = join(__dirname, "..");
const cache = join(project, "node_modules", ".cache", "chaos-shop");
/** Packages count by package-lock.json, the options of the build by this file. */
const alwaysSources = ["package-lock.json", "tsconfig.json", relative(project, __filename)];

/** What the shop's gateway serves to browsers as it is. */
const loader = { ".html": "text", ".css": "text", ".svg": "text", ".browser.js": "text" } as const;

/**
 * The path of a program's bundle. Builds it if it is missing or a source has changed.
 *
 * @param entry path of the file that begins the program
 * @throws Error if the program does not compile
 */
export function bundledFile(entry: string, { minify = true } = {}): string {
    const name = relative(project, resolve(entry)).replace(/\W+/g, "-");
    const file = join(cache, `${name}${minify ? "" : "-readable"}.js`);
    if (!isCurrent(file)) make(entry, file, minify);
    return file;
}

/** A program's bundle as `packed`. It is packed again if it has changed. */
export function packedBundle(entry: string): string {
    const file = bundledFile(entry);
    const program = readFileSync(file);
    const packedFile = file + packedEnding;
    const known = existsSync(packedFile) ? readFileSync(packedFile, "utf8") : undefined;
    if (known !== undefined && isOf(known, program)) return known;
    const made = packed(program);
    replaceFile(packedFile, made);
    return made;
}

/** Whether a text is a program as `packed`. Not so if it was written half, or for another version. */
function isOf(text: string, program: Buffer): boolean {
    try {
        return brotliDecompressSync(Buffer.from(text, "base64")).equals(program);
    } catch {
        return false;
    }
}

/** Hashes of a bundle and its sources, by their paths below the project: a copied or moved checkout has its own. */
type Hashes = Record<string, string>;

const hashesFile = (file: string) => `${file}.hashes.json`;
const hashOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

/** Without a complete list of hashes, as after a killed build, the bundle is built again. */
function isCurrent(file: string): boolean {
    try {
        const hashes = Object.entries(JSON.parse(readFileSync(hashesFile(file), "utf8")) as Hashes);
        return hashes.every(([path, hash]) => hashOf(join(project, path)) === hash);
    } catch {
        return false;
    }
}

function make(entry: string, file: string, minify: boolean): void {
    const { outputFiles, metafile } = buildSync({
        entryPoints: [entry],
        absWorkingDir: project,
        bundle: true,
        minify,
        platform: "node",
        target: "node20",
        format: "cjs",
        loader,
        // Programs only read YAML. What writes it would be a third of the library.
        alias: { "js-yaml": join(project, "node_modules", "js-yaml", "lib", "loader.js") },
        write: false,
        metafile: true,
        logOverride: { "empty-import-meta": "silent" },
    });
    const own = Object.keys(metafile.inputs).filter((source) => !source.includes("node_modules/"));
    const sources = [...alwaysSources.filter((source) => existsSync(join(project, source))), ...own];
    replaceFile(file, outputFiles[0]!.contents);
    const hashes = [...sources, relative(project, file)].map((path) => [path, hashOf(join(project, path))]);
    replaceFile(hashesFile(file), JSON.stringify(Object.fromEntries(hashes)));
}

/** Writes a file in one step: another process may be reading it. */
export function replaceFile(path: string, content: string | Uint8Array, mode = 0o644): void {
    const unfinished = `${path}.${process.pid}`;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(unfinished, content);
    chmodSync(unfinished, mode);
    renameSync(unfinished, path);
}
