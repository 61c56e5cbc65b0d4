import { parseArgs } from "node:util";
import type { Subject } from "../chaos/permissions/roles";
import type { StackConfiguration } from "../components/configuration/read";
import { settings } from "../components/configuration/settings";
import { savedExperiments } from "../experiments/saved";
import { offlineConfiguration } from "./offline-configuration";
import type { Parsed } from "./program";
import { settingsIn } from "./settings-option";
import { plainSettings } from "./stack-file";

export interface PermissionsOptions {
    /** The stack's configuration with each of the experiments. */
    configurations: StackConfiguration[];
    subjects: Subject[];
}

/**
 * Parses the arguments of `npm run render -- --permissions`.
 *
 * @param folder contains the stacks' files. @default the project's
 */
export function permissionsOptions(args: string[], folder?: string): Parsed<PermissionsOptions> {
    try {
        const { values, positionals } = parseArgs({
            args,
            allowPositionals: true,
            options: {
                permissions: { type: "boolean" },
                all: { type: "boolean", default: false },
                stack: { type: "string", default: "local" },
                variant: { type: "string" },
                set: { type: "string", multiple: true, default: [] },
                subject: { type: "string", multiple: true, default: [] },
                group: { type: "string", multiple: true, default: [] },
                out: { type: "string" },
                force: { type: "boolean" },
                help: { type: "boolean", short: "h", default: false },
            },
        });
        if (values.help) return { help: true };
        for (const option of ["out", "force"] as const)
            if (values[option] !== undefined)
                throw new Error(
                    `--${option} does not go with --permissions, which prints the roles: ` +
                        "npm run -s render -- --permissions > roles.yaml",
                );
        if (values.all && positionals.length > 0)
            throw new Error(`--all is for all experiments: omit ${positionals.join(" ")}`);
        const set = {
            ...plainSettings(values.stack, folder),
            ...settingsIn(values.set),
            ...(values.variant !== undefined && { variant: values.variant }),
        };
        const names = values.all ? fitting(set.variant) : positionals.length > 0 ? known(positionals) : [undefined];
        return {
            configurations: names.map((name) => configurationOf(set, values.stack, name)),
            subjects: [
                ...values.subject.map((name): Subject => ({ kind: "User", name })),
                ...values.group.map((name): Subject => ({ kind: "Group", name })),
            ],
        };
    } catch (error) {
        return { mistake: (error as Error).message };
    }
}

/** @param experiment @default the stack's */
function configurationOf(set: Record<string, string>, stack: string, experiment?: string): StackConfiguration {
    return offlineConfiguration(
        // No right depends on the agent's key, which is a secret of the stack.
        { ...set, "agent.key": "any-key-at-all", ...(experiment !== undefined && { "experiment.name": experiment }) },
        stack,
        savedExperiments(),
    );
}

function known(names: string[]): string[] {
    const saved = savedExperiments().map(({ name }) => name);
    const unknown = names.filter((name) => !saved.includes(name));
    if (unknown.length === 0) return [...new Set(names)];
    const those = unknown.map((name) => `"${name}"`).join(" and ");
    throw new Error(`there is no saved experiment ${those}; allowed: ${saved.join(", ")}`);
}

/** Names of the experiments that run on a variant. */
function fitting(variant = settings.variant.default): string[] {
    return savedExperiments()
        .filter((saved) => saved.variant === undefined || saved.variant === variant)
        .map(({ name }) => name);
}
