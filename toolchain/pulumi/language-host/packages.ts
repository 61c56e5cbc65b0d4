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
    readonly pulumi?: {
        readonly resource?: boolean;
        readonly name?: string;
        readonly version?: string;
        readonly server?: string;
        readonly parameterization?: RequiredPackage["parameterization"];
    };
}

/**
 * Finds the provider plugins of all packages installed in a program's folder and below.
 *
 * The official host opens each folder of each package. This looks only where npm installs packages
 * (`node_modules/name`, `node_modules/@scope/name`, and their own `node_modules`): the result is the same in a
 * fraction of the time. Both skip packages that cannot be read.
 */
export function requiredPackages(programDirectory: string): RequiredPackage[] {
    const found: RequiredPackage[] = [];
    const seen = new Set<string>();

    const visitFolder = (folder: string) => {
        if (!enter(folder, seen) || isPolicyPack(folder)) {
            return;
        }
        for (const entry of subfolders(folder)) {
            if (entry === "node_modules") {
                visitNodeModules(join(folder, entry));
            } else {
                visitFolder(join(folder, entry));
            }
        }
    };
    const visitNodeModules = (folder: string) => {
        if (!enter(folder, seen)) {
            return;
        }
        for (const entry of subfolders(folder)) {
            const packages = entry.startsWith("@")
                ? subfolders(join(folder, entry)).map((it) => join(entry, it))
                : [entry];
            packages.forEach((it) => visitPackage(join(folder, it)));
        }
    };
    const visitPackage = (folder: string) => {
        if (!enter(folder, seen) || isPolicyPack(folder)) {
            return;
        }
        const needed = pluginOf(join(folder, "package.json"));
        if (needed) {
            found.push(needed);
        }
        if (existsSync(join(folder, "node_modules"))) {
            visitNodeModules(join(folder, "node_modules"));
        }
    };

    visitFolder(programDirectory);
    return found;
}

function enter(folder: string, seen: Set<string>): boolean {
    const real = realpathSync(folder);
    return !seen.has(real) && seen.add(real).has(real);
}

function subfolders(folder: string): string[] {
    let entries: Dirent[];
    try {
        entries = readdirSync(folder, { withFileTypes: true });
    } catch {
        return []; // Not readable: the program cannot require anything in it either.
    }
    return entries.filter((entry) => isFolder(folder, entry)).map((entry) => entry.name);
}

function isFolder(parent: string, entry: Dirent): boolean {
    return (
        entry.isDirectory() ||
        (entry.isSymbolicLink() &&
            statSync(join(parent, entry.name), { throwIfNoEntry: false })?.isDirectory() === true)
    );
}

/** The plugins of a policy pack are not the program's. */
function isPolicyPack(folder: string): boolean {
    return ["PulumiPolicy.yaml", "PulumiPolicy.yml", "PulumiPolicy.json"].some((it) => existsSync(join(folder, it)));
}

function pluginOf(file: string): RequiredPackage | undefined {
    let manifest: PackageJson;
    try {
        manifest = JSON.parse(readFileSync(file, "utf8")) as PackageJson;
    } catch {
        return undefined; // No package.json, or not JSON: not a package.
    }
    const { pulumi } = manifest;
    // A package outside the @pulumi scope must name its plugin.
    const name = pulumi?.name || manifest.name?.match(/^@pulumi\/(.+)$/)?.[1];
    const version = pulumi?.version || manifest.version;
    if (!pulumi?.resource || !name || !version) {
        return undefined;
    }
    return {
        name,
        version: version.startsWith("v") ? version : `v${version}`,
        server: pulumi.server ?? "",
        parameterization: pulumi.parameterization,
    };
}
