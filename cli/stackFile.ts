import { load } from "js-yaml";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { settings } from "../components/configuration/settings";

const project = join(__dirname, "..");

/** Where a stack's shop is, and what its cluster is called. */
export interface StackPlace {
    namespace: string;
    /** Undefined: whatever local cluster there is. */
    kubeContext?: string;
    clusterName: string;
}

/**
 * Reads from a stack's file where its shop is, without an engine or a backend.
 *
 * @param folder where stacks' files are @default the project's
 * @throws Error that names the stacks that there are, where there is no such file
 */
export function placeOfStack(stack: string, folder = project): StackPlace {
    const set = plainSettings(stack, folder);
    return { namespace: set.namespace ?? settings.namespace.default!, kubeContext: set["kube.context"], clusterName: set["cluster.name"] ?? stack };
}

/**
 * The settings in a stack's file, those that are secrets left out.
 *
 * @throws Error that names the stacks that there are, where there is no such file
 */
export function plainSettings(stack: string, folder = project): Record<string, string> {
    const path = join(folder, `Pulumi.${stack}.yaml`);
    if (!existsSync(path)) {
        const stacks = readdirSync(folder).map((file) => /^Pulumi\.(.+)\.yaml$/.exec(file)?.[1]).filter((name) => name !== undefined);
        throw new Error(`there is no stack "${stack}": no Pulumi.${stack}.yaml; allowed: ${stacks.join(", ")}`);
    }
    const config = (load(readFileSync(path, "utf8")) as { config?: Record<string, unknown> } | undefined)?.config ?? {};
    const own = Object.entries(config).filter(([key, value]) => key.startsWith("chaos-shop:") && typeof value !== "object");
    return Object.fromEntries(own.map(([key, value]) => [key.slice("chaos-shop:".length), String(value)]));
}
