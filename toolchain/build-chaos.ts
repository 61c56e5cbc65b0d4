/**
 * Builds the package in chaos/ into chaos/dist: JavaScript, the types of what it exports, and its own programs, each in
 * one file. Started by `npm pack`.
 */
import { build, type Plugin, transformSync } from "esbuild";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { type OutputChunk, rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import ts from "typescript";
import { compressedEnding, podProgramsFile, runBeside } from "../chaos/pods/packed";
import { alias, buildOptions, bundledFile } from "./bundle";

const repository = join(__dirname, "..");
const chaos = join(repository, "chaos");
const dist = join(chaos, "dist");
/** What the compiler makes of each source, until it is bundled. */
const modules = join(dist, "modules");

async function main(): Promise<void> {
    rmSync(dist, { recursive: true, force: true });
    const compiler = join(repository, "node_modules", ".bin", "tsc");
    execFileSync(compiler, ["--project", chaos, "--outDir", modules], { stdio: "inherit" });
    await codeInFewFiles();
    await typesInOneFile();
    rmSync(modules, { recursive: true });
    await buildPrograms(join(dist, "programs"));
    addPages();
    copyFileSync(join(repository, "LICENSE"), join(chaos, "LICENSE"));
}

const isOfNpm = /^[^./]/;

/**
 * A file for each source that the compiler's options name, since programs require or start it; and in `shared` what
 * several of them need, and what is imported only on demand. With a file for each source, and programs that were not
 * compressed, the package was 528 kB instead of 398 kB, and took 0.05 to 0.15 s longer to load.
 */
async function codeInFewFiles(): Promise<void> {
    const { include } = JSON.parse(readFileSync(join(chaos, "tsconfig.json"), "utf8")) as { include: string[] };
    const entries = include.map((source) => source.replace(/\.ts$/, ""));
    const input = Object.fromEntries(entries.map((entry) => [entry, join(modules, `${entry}.js`)]));
    const code = await rollup({ input, external: isOfNpm });
    const { output } = await code.generate({
        format: "cjs",
        interop: "auto",
        exports: "named",
        esModule: true,
        entryFileNames: "[name].js",
        chunkFileNames: "shared/[name].js",
        hoistTransitiveImports: false,
        minifyInternalExports: true,
        externalLiveBindings: false,
        generatedCode: "es2015",
    });
    await code.close();
    for (const { fileName, code } of output as OutputChunk[]) writeIn(dist, fileName, minified(code));
}

/** In lines of some length: Node.js prints the line of an error that nobody has caught. */
const minified = (code: string) =>
    transformSync(code, { platform: "node", format: "cjs", minify: true, lineLimit: 10_000, legalComments: "none" })
        .code;

/**
 * Leaves out what is not exported, and with it the types of the Kubernetes client and of the validation: without
 * `skipLibCheck`, which Pulumi's templates do not set, they do not compile.
 */
async function typesInOneFile(): Promise<void> {
    const file = join(dist, "index.d.ts");
    writeFileSync(file, await bundledTypes(join(modules, "index.d.ts")));
    writeFileSync(file, withoutInference(file));
    writeFileSync(file, await bundledTypes(file));
}

async function bundledTypes(file: string): Promise<string> {
    const types = await rollup({ input: file, external: isOfNpm, plugins: [dts()] });
    const { output } = await types.generate({});
    await types.close();
    return output[0].code;
}

/** Writes out each type that is inferred, as from a schema: what it is inferred from can then be left out. */
function withoutInference(file: string): string {
    const program = ts.createProgram([file], { module: ts.ModuleKind.Node20, strict: true, types: ["node"] });
    const checker = program.getTypeChecker();
    const source = program.getSourceFile(file)!;
    const aliases = source.statements.filter(ts.isTypeAliasDeclaration).filter((alias) => !alias.typeParameters);
    return aliases.reduceRight((text, { type }) => {
        const format = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias;
        const written = checker.typeToString(checker.getTypeAtLocation(type), type, format);
        return text.slice(0, type.getStart()) + written + text.slice(type.end);
    }, source.text);
}

/** The programs of pods. */
const podPrograms = {
    deadline: "witness/job-program.ts",
    proxy: "kinds/attacks/fault/proxy/proxy-program.ts",
    sender: "kinds/actions/load/sender/send-program.ts",
};

/** Steps check data by schemas, and write none: what does would be 5 kB of the package. */
const withoutJsonSchemas: Plugin = {
    name: "without-json-schemas",
    setup(build) {
        build.onLoad({ filter: /\/zod\/v4\/core\/(json-schema-\w+|to-json-schema)\.js$/ }, async ({ path }) => {
            const names = Object.keys((await import(path)) as object);
            return { contents: names.map((name) => `export const ${name} = () => undefined;`).join("") };
        });
    },
};

/**
 * Compressed: as they are, they would be a quarter of the whole package, and the steps' is kept in states so. Those of
 * pods have much in common: in one file, they are 4 kB smaller.
 */
async function buildPrograms(folder: string): Promise<void> {
    const entryPoints = [join(chaos, "run", "steps-program.ts")];
    const options = { ...buildOptions, alias, entryPoints, minify: true, plugins: [withoutJsonSchemas] };
    const { outputFiles } = await build(options);
    writeIn(folder, `steps.js${compressedEnding}`, brotliCompressSync(outputFiles[0]!.contents));
    writeIn(folder, "steps.js", runBeside);
    const pods = Object.entries(podPrograms).map(([name, source]) => [
        name,
        readFileSync(bundledFile(join(chaos, source)), "utf8"),
    ]);
    writeIn(folder, podProgramsFile, brotliCompressSync(JSON.stringify(Object.fromEntries(pods))));
}

/** What users of the package read that is elsewhere, or nowhere, in this repository. */
function addPages(): void {
    mkdirSync(join(dist, "docs"));
    copyFileSync(join(repository, "docs", "troubleshooting.md"), join(dist, "docs", "troubleshooting.md"));
    const journals = bundledFile(join(chaos, "report", "journal-schema.ts"));
    const { journalJsonSchema } = createRequire(__filename)(journals) as { journalJsonSchema: () => object };
    // Programs read it: on one line, it is a third smaller in the package.
    writeFileSync(join(dist, "journal.schema.json"), `${JSON.stringify(journalJsonSchema())}\n`);
}

function writeIn(folder: string, name: string, content: string | Buffer): void {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
}

void main();
