/**
 * Bundles a TypeScript program and its imports into one file, with esbuild. A pod has no node_modules, and a step of an
 * experiment starts in 0.1 s from one file, in 1.1 s from a thousand.
 *
 * Bundles are cached below node_modules/.cache and rebuilt when a source changes: bundling the shop's programs takes
 * 1 s, which each preview would pay otherwise. esbuild lists the sources.
 */
import type { BuildOptions, BuildResult } from "esbuild";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { packed } from "../chaos/pods/packed";
import { bundlePath, hashesPath, hashOf, isCurrent, project } from "./bundle-cache";

/** Packages count by package-lock.json, the options of the build by these files. */
const ofBuild = ["bundle.ts", "bundle-program.ts", "bundle-cache.js"].map((file) => `toolchain/${file}`);
const alwaysSources = ["package-lock.json", "tsconfig.json", ...ofBuild];

/** What the shop's gateway serves to browsers as it is. */
const loader = { ".html": "text", ".css": "text", ".svg": "text", ".browser.js": "text" } as const;

/** Programs only read YAML. What writes it would be a third of the library. */
export const alias = { "js-yaml": join(project, "node_modules", "js-yaml", "lib", "loader.js") };

/**
 * The path of a program's bundle. Builds it if it is missing or a source has changed.
 *
 * @param entry path of the file that begins the program
 * @throws Error if the program does not compile
 */
export function bundledFile(entry: string, { minify = true } = {}): string {
    const bundle = bundlePath(entry, minify ? ".js" : "-readable.js");
    if (!isCurrent(bundle)) make(bundle, { entryPoints: [entry], minify, alias });
    return bundle;
}

/** A program's bundle as `packed`. */
export const packedBundle = (entry: string): string => madeOf(bundledFile(entry), ".packed", packed).toString();

export const gzippedBundle = (entry: string): Buffer =>
    madeOf(bundledFile(entry), ".gz", (program) => gzipSync(program, { level: 9 }));

/** What is made of a bundle, and kept beside it, since compressing takes longer than all else. */
function madeOf(bundle: string, ending: string, compress: (program: Buffer) => string | Buffer): Buffer {
    const file = bundle + ending;
    if (!isCurrent(file)) keep(file, compress(readFileSync(bundle)), [relative(project, bundle)]);
    return readFileSync(file);
}

function make(bundle: string, options: BuildOptions): void {
    const begunAt = Date.now();
    keepBuilt(bundle, esbuild().buildSync({ ...buildOptions, ...options }), begunAt);
}

/** Most processes find all bundles as they should be. */
export const esbuild = () => createRequire(__filename)("esbuild") as typeof import("esbuild");

export const buildOptions = {
    absWorkingDir: project,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    loader,
    write: false,
    metafile: true,
    logOverride: { "empty-import-meta": "silent" },
} satisfies BuildOptions;

/** A file system may note a change with a time of some milliseconds before it. */
const clockMs = 50;

/** When a file last changed, by this machine's clock: its time of modification may be any, also in the future. */
const changedAt = (source: string) => statSync(join(project, source)).ctimeMs;

/**
 * @param begunAt when its build began, in milliseconds since the epoch: of a source that has changed since, it is not
 *   known what was read, so the bundle is made again when it is next wanted
 * @param besides folders whose files the program loads by name
 */
export function keepBuilt(
    bundle: string,
    { outputFiles, metafile }: BuildResult<typeof buildOptions>,
    begunAt: number,
    besides: readonly string[] = [],
): void {
    const own = Object.keys(metafile.inputs).filter((source) => !source.includes("node_modules/"));
    // A new file may be found in place of one that was read: `word.tsx` before `word.ts`.
    const folders = [...new Set(own.map((source) => dirname(source)))];
    const there = [...alwaysSources, ...besides].filter((source) => existsSync(join(project, source)));
    if ([...there, ...own].some((source) => changedAt(source) >= begunAt - clockMs)) {
        rmSync(hashesPath(bundle), { force: true });
        replaceFile(bundle, outputFiles[0]!.contents);
    } else keep(bundle, outputFiles[0]!.contents, [...there, ...own, ...folders]);
}

function keep(file: string, content: string | Uint8Array, sources: readonly string[]): void {
    replaceFile(file, content);
    const hashes = [...sources, relative(project, file)].map((path) => [path, hashOf(path)]);
    replaceFile(hashesPath(file), JSON.stringify(Object.fromEntries(hashes)));
}

/** Writes a file in one step: another process may be reading it. */
export function replaceFile(path: string, content: string | Uint8Array, mode = 0o644): void {
    const unfinished = `${path}.${process.pid}`;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(unfinished, content);
    chmodSync(unfinished, mode);
    renameSync(unfinished, path);
}
