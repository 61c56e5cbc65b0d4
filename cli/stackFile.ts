import { dump, load } from "js-yaml";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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
    return {
        namespace: set.namespace ?? settings.namespace.default!,
        kubeContext: set["kube.context"],
        clusterName: set["cluster.name"] ?? stack,
    };
}

/**
 * The settings of a stack, those that are secrets left out.
 *
 * @throws Error that names the stacks that there are, where there is no such file
 */
export function plainSettings(stack: string, folder = project): Record<string, string> {
    const path = join(folder, `Pulumi.${stack}.yaml`);
    if (!existsSync(path)) {
        const stacks = readdirSync(folder)
            .map((file) => /^Pulumi\.(.+)\.yaml$/.exec(file)?.[1])
            .filter((name) => name !== undefined);
        throw new Error(`there is no stack "${stack}": no Pulumi.${stack}.yaml; allowed: ${stacks.join(", ")}`);
    }
    return new StackFile(path).plain;
}

const prefix = "chaos-shop:";
/** As Pulumi has it: a key without a namespace is the project's. */
const whole = (key: string) => (key.includes(":") ? key : prefix + key);

/** A file with a stack's settings, read and written without an engine, which would take a quarter of a second each time. */
export class StackFile {
    constructor(private readonly path: string) {}

    /** The settings that are no secrets. */
    get plain(): Record<string, string> {
        const plain = Object.entries(this.config).filter(
            ([key, value]) => key.startsWith(prefix) && typeof value !== "object",
        );
        return Object.fromEntries(plain.map(([key, value]) => [key.slice(prefix.length), String(value)]));
    }

    /** Whether it sets something, be it a secret. */
    has(key: string): boolean {
        return whole(key) in this.config;
    }

    /** Sets some and leaves the rest; undefined takes one out. */
    set(settings: Record<string, string | undefined>): void {
        const changed = Object.fromEntries(Object.entries(settings).map(([key, value]) => [whole(key), value]));
        writeFileSync(
            this.path,
            dump({ ...this.document, config: { ...this.config, ...changed } }, { skipInvalid: true }),
        );
    }

    private get config(): Record<string, unknown> {
        return this.document.config ?? {};
    }

    private get document(): { config?: Record<string, unknown> } {
        return existsSync(this.path) ? ((load(readFileSync(this.path, "utf8")) as object | undefined) ?? {}) : {};
    }
}
