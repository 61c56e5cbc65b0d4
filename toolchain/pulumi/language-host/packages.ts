import { type Dirent, existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";

/** A provider plugin that an installed npm package declares in its package.json. */
export interface RequiredPackage {
    readonly name: string;
    /** With its leading `v`. */
    readonly version: string;
    /** The download server; empty for the default. */
    readonly server: string;
    readonly parameterization?: { readonly name: string; readonly version: string; readonly value: string };
}

interface PackageJson {
    readonly name?: string;
    readonly version?: string;
    readonly pulumi?: Partial<RequiredPackage> & { readonly resource?: boolean };
}

/**
 * Finds the provider plugins of all packages installed in a program's folder and below.
 *
 * The official host opens each folder of each package. This looks only where npm installs packages
 * (`node_modules/name`, `node_modules/@scope/name`, and their own `node_modules`): the result is the same in a
 * fraction of the time. Both skip packages that cannot be read, and policy packs, whose plugins are not the program's.
 */
export function requiredPackages(programDirectory: string): RequiredPackage[] {
    const found: RequiredPackage[] = [];
    const seen = new Set<string>();

    const isNew = (folder: string) => {
        const real = realpathSync(folder);
        return !seen.has(real) && seen.add(real) && !isPolicyPack(folder);
    };
    const visitFolder = (folder: string) => {
        if (!isNew(folder)) return;
        for (const entry of subfolders(folder)) {
            if (entry === "node_modules") visitNodeModules(join(folder, entry));
            else visitFolder(join(folder, entry));
        }
    };
    const visitNodeModules = (folder: string) => {
        if (!isNew(folder)) return;
        for (const entry of subfolders(folder).map((name) => join(folder, name))) {
            const packages = /[/\\]@[^/\\]+$/.test(entry)
                ? subfolders(entry).map((name) => join(entry, name))
                : [entry];
            packages.forEach(visitPackage);
        }
    };
    const visitPackage = (folder: string) => {
        if (!isNew(folder)) return;
        found.push(...pluginOf(join(folder, "package.json")));
        if (existsSync(join(folder, "node_modules"))) visitNodeModules(join(folder, "node_modules"));
    };

    visitFolder(programDirectory);
    return found;
}

function subfolders(folder: string): string[] {
    const isFolder = (entry: Dirent) =>
        entry.isDirectory() ||
        (entry.isSymbolicLink() &&
            statSync(join(folder, entry.name), { throwIfNoEntry: false })?.isDirectory() === true);
    try {
        return readdirSync(folder, { withFileTypes: true })
            .filter(isFolder)
            .map(({ name }) => name);
    } catch {
        return []; // Not readable: the program cannot require anything in it either.
    }
}

function isPolicyPack(folder: string): boolean {
    return ["yaml", "yml", "json"].some((type) => existsSync(join(folder, `PulumiPolicy.${type}`)));
}

/** The plugin that a package needs, if any. */
function pluginOf(file: string): RequiredPackage[] {
    let manifest: PackageJson;
    try {
        manifest = JSON.parse(readFileSync(file, "utf8")) as PackageJson;
    } catch {
        return []; // No package.json, or not JSON: not a package.
    }
    const { pulumi } = manifest;
    // A package outside the @pulumi scope must name its plugin.
    const name = pulumi?.name || manifest.name?.match(/^@pulumi\/(.+)$/)?.[1];
    const version = pulumi?.version || manifest.version;
    if (!pulumi?.resource || !name || !version) return [];
    const { server = "", parameterization } = pulumi;
    return [{ name, version: version.replace(/^v?/, "v"), server, parameterization }];
}
