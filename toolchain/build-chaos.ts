/**
 * Builds the package in chaos/ into chaos/dist: JavaScript, types, and its own programs, each in one file. Started by
 * `npm pack`.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bundledFile } from "./bundle";

const repository = join(__dirname, "..");
const chaos = join(repository, "chaos");
const programs = join(chaos, "dist", "programs");

rmSync(join(chaos, "dist"), { recursive: true, force: true });
execFileSync(join(repository, "node_modules", ".bin", "tsc"), ["--project", chaos], { stdio: "inherit" });
mkdirSync(programs, { recursive: true });
for (const name of ["steps", "deadline", "proxy"]) {
    const bundle = bundledFile(join(chaos, name, "main.ts"), { minify: name === "steps" });
    copyFileSync(bundle, join(programs, `${name}.js`));
}
copyFileSync(join(repository, "LICENSE"), join(chaos, "LICENSE"));
