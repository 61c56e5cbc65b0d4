import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { project } from "../../cli/stack-file";
import { temporaryPrefix } from "./shop/support";

/** A copy of this project's files in a temporary folder, without packages: what a test may change. */
export function checkout(): string {
    const folder = mkdtempSync(join(tmpdir(), temporaryPrefix));
    const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: project });
    for (const file of listed.toString().split("\n")) if (file !== "") cpSync(join(project, file), join(folder, file));
    return folder;
}

/** Lends a copy this project's packages; those that are the project's own folders are the copy's. */
export function lendPackages(folder: string): void {
    const packages = join(project, "node_modules");
    const lent = join(folder, "node_modules");
    mkdirSync(lent);
    for (const entry of readdirSync(packages, { withFileTypes: true })) {
        const path = join(packages, entry.name);
        symlinkSync(entry.isSymbolicLink() ? readlinkSync(path) : path, join(lent, entry.name));
    }
}
