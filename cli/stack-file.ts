import { dump, load } from "js-yaml";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { yamlProblem } from "../chaos/values/json";
import type { AgentReference } from "../chaos/targets/agents";
import { builtinAgent, defaultAgentNamespace } from "../components/configuration/agent";
import { nearestFirst } from "../components/configuration/mistakes";
import { settings } from "../components/configuration/settings";
import { pulumiCommand } from "../components/pulumi-command";

export const project = join(__dirname, "..");

/** A stack's name as its program knows it, without the organization of `acme/prod`. */
const nameOf = (stack: string) => stack.split("/").at(-1)!;

/** The path of a stack's file. @param folder contains the stacks' files. @default the project's */
export const fileOfStack = (stack: string, folder = project) => join(folder, `Pulumi.${nameOf(stack)}.yaml`);

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
        clusterName: set["cluster.name"] ?? nameOf(stack),
        agent: agentOf(set, namespace),
    };
}

/** The builtin agent of a stack with these settings, if it has one. @param shop the shop's namespace */
export function agentOf(set: Record<string, string>, shop: string): AgentReference | undefined {
    if ((set["agent.enabled"] ?? settings["agent.enabled"].default) !== "true") return undefined;
    return builtinAgent({
        install: set["agent.install"] ?? settings["agent.install"].default,
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
    if (!existsSync(path)) throw noSuchStack(stack, stacksWithFile(folder), `: no ${basename(path)}`);
    return new StackFile(path).settings;
}

/** The error about a stack that does not exist. @param known those that do. @param why completes the sentence */
export function noSuchStack(stack: string, known: readonly string[], why = ""): Error {
    return new Error(
        `there is no stack "${stack}"${why}; allowed: ${nearestFirst(stack, known).join(", ")}. ` +
            `To create it: ${pulumiCommand(["stack", "init", stack, "--no-select"], "")}`,
    );
}

/** @param folder contains the stacks' files. @default the project's */
export const stacksWithFile = (folder = project) =>
    readdirSync(folder).flatMap((file) => /^Pulumi\.(.+)\.yaml$/.exec(file)?.[1] ?? []);

const prefix = "chaos-shop:";
/** Like Pulumi, takes a key without a namespace for the project's, and `chaos-shop:config:KEY` for `chaos-shop:KEY`. */
const whole = (key: string) => (key.includes(":") ? key.replace(/^([^:]+):config:/, "$1:") : prefix + key);

interface Document {
    config?: Record<string, unknown>;
    secretsprovider?: string;
}

/**
 * A stack's file, read as Pulumi reads it, with the defaults in the `config` of the `Pulumi.yaml` beside it. Reading
 * and writing it with the Pulumi CLI would take 0.25 s each time, and need a login.
 */
export class StackFile {
    constructor(private readonly path: string) {}

    /** The settings that are not secrets. */
    get settings(): Record<string, string> {
        const plain = Object.entries({ ...this.defaults, ...this.config }).filter(
            ([key, value]) => key.startsWith(prefix) && !isSecret(value),
        );
        return Object.fromEntries(plain.map(([key, value]) => [key.slice(prefix.length), textOf(value)]));
    }

    /** Whether a passphrase encrypts its secrets, unless the backend does. */
    get wantsPassphrase(): boolean {
        return ["", "default", "passphrase"].includes(documentIn(this.path).secretsprovider ?? "");
    }

    /** Whether it sets a key, also as a secret. */
    has(key: string): boolean {
        return Object.hasOwn({ ...this.defaults, ...this.config }, whole(key));
    }

    /** Sets some keys and keeps the others. Undefined removes a key. */
    set(settings: Record<string, string | undefined>): void {
        const changed = Object.fromEntries(Object.entries(settings).map(([key, value]) => [whole(key), value]));
        const document = { ...documentIn(this.path), config: { ...this.config, ...changed } };
        writeFileSync(this.path, dump(document, { skipInvalid: true }));
    }

    /** By whole keys. Of a key that is there in two forms, the last counts; Pulumi takes now this one and now that. */
    private get config(): Record<string, unknown> {
        return withWholeKeys(documentIn(this.path).config);
    }

    private get defaults(): Record<string, unknown> {
        const declared = withWholeKeys(documentIn(join(dirname(this.path), "Pulumi.yaml")).config);
        const values = Object.entries(declared).map(([key, about]): [string, unknown] => {
            if (typeof about !== "object" || about === null) return [key, about];
            const { value, default: usual = value, secret } = about as Record<string, unknown>;
            return [key, secret === true ? { secure: usual } : usual];
        });
        return Object.fromEntries(values.filter(([, value]) => value !== undefined));
    }
}

const withWholeKeys = (config: Record<string, unknown> | null | undefined): Record<string, unknown> =>
    Object.fromEntries(Object.entries(config ?? {}).map(([key, value]) => [whole(key), value]));

/** A file that is missing or empty has nothing in it. @throws Error without its text, which may hold a secret */
function documentIn(path: string): Document {
    if (!existsSync(path)) return {};
    try {
        return (load(readFileSync(path, "utf8")) as Document | undefined | null) ?? {};
    } catch (error) {
        throw new Error(`${path} cannot be read: ${yamlProblem(error)}; correct it`);
    }
}

/** Also a structured value with a secret in it. */
function isSecret(value: unknown): boolean {
    if (typeof value !== "object" || value === null) return false;
    return Object.keys(value).join() === "secure" || Object.values(value).some(isSecret);
}

/** As Pulumi hands a value to a program. */
function textOf(value: unknown): string {
    if (value === null) return "";
    if (value instanceof Date)
        return value
            .toISOString()
            .replace("T", " ")
            .replace(/(?:\.0+)?Z$/, " +0000 UTC");
    return typeof value === "string" ? value : JSON.stringify(value);
}
