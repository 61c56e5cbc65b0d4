/**
 * Builds the package in chaos/ into chaos/dist: JavaScript, the types of what it exports, and its own programs, each in
 * one file. Started by `npm pack`.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import { bundledFile } from "./bundle";

const repository = join(__dirname, "..");
const chaos = join(repository, "chaos");
const dist = join(chaos, "dist");

async function main(): Promise<void> {
    rmSync(dist, { recursive: true, force: true });
    execFileSync(join(repository, "node_modules", ".bin", "tsc"), ["--project", chaos], { stdio: "inherit" });
    await typesInOneFile();
    buildPrograms(join(dist, "programs"));
    copyFileSync(join(repository, "LICENSE"), join(chaos, "LICENSE"));
}

/**
 * Leaves out what is not exported, and with it the types of the Kubernetes client and of the validation: without
 * `skipLibCheck`, which Pulumi's templates do not set, they do not compile.
 */
async function typesInOneFile(): Promise<void> {
    const types = await rollup({
        input: join(dist, "index.d.ts"),
        external: /^[^./]/,
        plugins: [dts()],
    });
    for (const file of readdirSync(dist, { recursive: true, encoding: "utf8" }))
        if (file.endsWith(".d.ts")) rmSync(join(dist, file));
    await types.write({ file: join(dist, "index.d.ts") });
    await types.close();
}

function buildPrograms(folder: string): void {
    mkdirSync(folder, { recursive: true });
    for (const [name, source] of Object.entries({ steps: "steps", deadline: "job", proxy: "attacks/fault/proxy" })) {
        const bundle = bundledFile(join(chaos, source, "main.ts"), { minify: name === "steps" });
        copyFileSync(bundle, join(folder, `${name}.js`));
    }
}

void main();
