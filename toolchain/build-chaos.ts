/**
 * Builds the package in chaos/ into chaos/dist: JavaScript, the types of what it exports, and its own programs, each in
 * one file. Started by `npm pack`.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import ts from "typescript";
import { packedEnding, runBeside } from "../chaos/pods/packed";
import { bundledFile, packedBundle } from "./bundle";

const repository = join(__dirname, "..");
const chaos = join(repository, "chaos");
const dist = join(chaos, "dist");

async function main(): Promise<void> {
    rmSync(dist, { recursive: true, force: true });
    execFileSync(join(repository, "node_modules", ".bin", "tsc"), ["--project", chaos], { stdio: "inherit" });
    await typesInOneFile();
    removeComments();
    buildPrograms(join(dist, "programs"));
    addPages();
    copyFileSync(join(repository, "LICENSE"), join(chaos, "LICENSE"));
}

/**
 * Leaves out what is not exported, and with it the types of the Kubernetes client and of the validation: without
 * `skipLibCheck`, which Pulumi's templates do not set, they do not compile.
 */
async function typesInOneFile(): Promise<void> {
    const file = join(dist, "index.d.ts");
    const all = await bundledTypes(file);
    for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" }))
        if (name.endsWith(".d.ts")) rmSync(join(dist, name));
    writeFileSync(file, all);
    writeFileSync(file, withoutInference(file));
    writeFileSync(file, await bundledTypes(file));
}

async function bundledTypes(file: string): Promise<string> {
    const types = await rollup({ input: file, external: /^[^./]/, plugins: [dts()] });
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

/** A quarter of the code's size in the package. Editors show those of the types. */
function removeComments(): void {
    const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".js"));
    for (const path of files.map((name) => join(dist, name))) {
        const { code } = transformSync(readFileSync(path, "utf8"), { platform: "node", legalComments: "none" });
        writeFileSync(path, code);
    }
}

/** The package's own programs. */
const sources = {
    steps: "run/steps-program.ts",
    deadline: "witness/job-program.ts",
    proxy: "kinds/attacks/fault/proxy/proxy-program.ts",
    sender: "kinds/actions/load/sender/send-program.ts",
};

function buildPrograms(folder: string): void {
    mkdirSync(folder, { recursive: true });
    for (const [name, source] of Object.entries(sources)) {
        copyFileSync(bundledFile(join(chaos, source)), join(folder, `${name}.js`));
    }
    // The state takes it packed. A second one that is not would be a quarter of the whole package.
    const steps = join(folder, "steps.js");
    writeFileSync(steps + packedEnding, packedBundle(join(chaos, sources.steps)));
    writeFileSync(steps, runBeside);
}

/** What users of the package read that is elsewhere, or nowhere, in this repository. */
function addPages(): void {
    mkdirSync(join(dist, "docs"));
    copyFileSync(join(repository, "docs", "troubleshooting.md"), join(dist, "docs", "troubleshooting.md"));
    const built = createRequire(__filename)(join(dist, "report", "journal-schema.js")) as {
        journalJsonSchema(): object;
    };
    // Programs read it: on one line, it is a third smaller in the package.
    writeFileSync(join(dist, "journal.schema.json"), `${JSON.stringify(built.journalJsonSchema())}\n`);
}

void main();
