import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { archive, asset, type Properties } from "./values";

/** Files that a command created, as the outputs `assets` and `archive`; undefined where not requested. */
export interface Assets {
    readonly assets?: Properties;
    readonly archive?: Properties;
}

/**
 * Reads the files that the globs of `assetPaths` and `archivePaths` select.
 *
 * The globs are those of the official provider: evaluated in order; `!` excludes; `*` and `?` stop at `/`, `**` does
 * not; `[a-z]`, `[!a-z]` and `{a,b}` as usual. Symbolic links to folders are not followed.
 *
 * @param dir the folder that the globs are relative to.
 */
export function readAssets(
    dir: string,
    assetPaths: readonly string[] | undefined,
    archivePaths: readonly string[] | undefined,
): Assets {
    return {
        assets: assetPaths && select(dir, assetPaths),
        archive: archivePaths && archiveOf(select(dir, archivePaths)),
    };
}

function select(dir: string, globs: readonly string[]): Properties {
    const rules = globs.map((glob) => ({
        excludes: glob.startsWith("!"),
        pattern: globToRegExp(glob.replace(/^!/, "")),
    }));
    const chosen = filesBelow(dir, "").filter((file) => {
        const last = rules.filter((rule) => rule.pattern.test(file)).at(-1);
        return last !== undefined && !last.excludes;
    });
    return Object.fromEntries(
        chosen.map((file) => [file, asset(join(dir, file), sha256(readFileSync(join(dir, file))))]),
    );
}

/** The hash covers each file's path and content. */
function archiveOf(assets: Properties): Properties {
    const contents = Object.entries(assets).map(([path, file]) => `${path} ${(file as { hash: string }).hash}\n`);
    return archive(assets, sha256(contents.join("")));
}

function filesBelow(dir: string, folder: string): string[] {
    return readdirSync(join(dir, folder), { withFileTypes: true }).flatMap((entry) => {
        const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
        return entry.isDirectory() ? filesBelow(dir, path) : [path];
    });
}

/** The regular expression of a glob, over whole paths with `/` between their parts. */
export function globToRegExp(glob: string): RegExp {
    let depth = 0;
    const source = glob.replace(
        /\\(.)|\*\*|\*|\?|\[(!?)([^\]]+)\]|[{},]|[.+^$()|[\]\\]/gs,
        (token: string, escaped?: string, not?: string, set?: string) => {
            if (escaped !== undefined) {
                return quote(escaped);
            }
            if (set !== undefined) {
                return `[${not ? "^" : ""}${set.replace(/[\\^]/g, "\\$&")}]`;
            }
            switch (token) {
                case "**":
                    return "[^]*";
                case "*":
                    return "[^/]*";
                case "?":
                    return "[^/]";
                case "{":
                    depth += 1;
                    return "(?:";
                case "}":
                    depth -= 1;
                    return ")";
                case ",":
                    return depth > 0 ? "|" : ",";
                default:
                    return quote(token);
            }
        },
    );
    return new RegExp(`^${source}$`);
}

function quote(text: string): string {
    return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function sha256(content: string | Buffer): string {
    return createHash("sha256").update(content).digest("hex");
}
