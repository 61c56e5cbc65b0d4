import { dump, load } from "js-yaml";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentReference } from "../chaos/targets/agents";
import { builtinAgent } from "../components/configuration/experiment";
import { defaultAgentNamespace } from "../components/configuration/agent";
import type { AgentSettings } from "../components/configuration/read";
import { settings } from "../components/configuration/settings";

export const project = join(__dirname, "..");

/** The path of a stack's file. @param folder contains the stacks' files. @default the project's */
export const fileOfStack = (stack: string, folder = project) => join(folder, `Pulumi.${stack}.yaml`);

export interface StackPlace {
    namespace: string;
    /** @default the local cluster */
    kubeContext?: string;
    clusterName: string;
    /** The agent that is asked for targets. Absent if the stack has none of its own. */
    agent?: AgentReference;
}

/**
 * Reads the location of a stack's shop from its file, without an engine or a backend.
 *
 * @param elsewhere the shop's namespace, if it is not the one in the file
 * @param folder contains the stacks' files. @default the project's
 * @throws Error that lists the existing stacks, if this one has no file
 */
export function placeOfStack(stack: string, elsewhere?: string, folder = project): StackPlace {
    const set = plainSettings(stack, folder);
    const namespace = elsewhere ?? set.namespace ?? settings.namespace.default;
    return {
        namespace,
        kubeContext: set["kube.context"],
        clusterName: set["cluster.name"] ?? stack,
        agent: agentOf(set, namespace),
    };
}

/** The builtin agent of a stack with these settings, if it has one. @param shop the shop's namespace */
export function agentOf(set: Record<string, string>, shop: string): AgentReference | undefined {
    if ((set["agent.enabled"] ?? settings["agent.enabled"].default) !== "true") return undefined;
    return builtinAgent({
        install: (set["agent.install"] ?? settings["agent.install"].default) as AgentSettings["install"],
        namespace: set["agent.namespace"] ?? defaultAgentNamespace(shop),
    });
}

/**
 * A stack's settings without secrets.
 *
 * @throws Error that lists the existing stacks, if this one has no file
 */
export function plainSettings(stack: string, folder = project): Record<string, string> {
    const path = fileOfStack(stack, folder);
    if (!existsSync(path)) {
        const stacks = readdirSync(folder)
            .map((file) => /^Pulumi\.(.+)\.yaml$/.exec(file)?.[1])
            .filter((name) => name !== undefined);
        throw new Error(`there is no stack "${stack}": no Pulumi.${stack}.yaml; allowed: ${stacks.join(", ")}`);
    }
    return new StackFile(path).settings;
}

const prefix = "chaos-shop:";
/** Like Pulumi, takes a key without a namespace for the project's. */
const whole = (key: string) => (key.includes(":") ? key : prefix + key);

/** A stack's file. Reading and writing it with the Pulumi CLI would take 0.25 s each time. */
export class StackFile {
    constructor(private readonly path: string) {}

    /** The settings that are not secrets. */
    get settings(): Record<string, string> {
        const plain = Object.entries(this.config).filter(
            ([key, value]) => key.startsWith(prefix) && typeof value !== "object",
        );
        return Object.fromEntries(plain.map(([key, value]) => [key.slice(prefix.length), String(value)]));
    }

    /** Whether it sets a key, also as a secret. */
    has(key: string): boolean {
        return whole(key) in this.config;
    }

    /** Sets some keys and keeps the others. Undefined removes a key. */
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
