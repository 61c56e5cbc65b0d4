import { existsSync, readdirSync } from "node:fs";
import type { Subject } from "../chaos/permissions/roles";
import type { StackConfiguration } from "../components/configuration/read";
import { settings } from "../components/configuration/settings";
import { savedExperiments } from "../experiments/saved";
import { settingsIn } from "./command";
import { fitting } from "./experiment-list";
import { offlineConfiguration } from "./offline-configuration";
import { renderable, renderProgram } from "./programs";
import { plainSettings } from "./stack-file";

export interface RenderOptions {
    /** The rendering's folder. */
    out: string;
    configuration: StackConfiguration;
}

export interface PermissionsOptions {
    /** The stack's configuration with each of the experiments. */
    configurations: StackConfiguration[];
    subjects: Subject[];
}

interface Given {
    out?: string;
    force?: boolean;
    variant?: string;
    stack?: string;
    set: string[];
    permissions?: boolean;
    all?: boolean;
    subject: string[];
    group: string[];
}

/**
 * Reads the arguments of `npm run render`.
 *
 * @param folder contains the stacks' files. @default the project's
 * @throws Error with what is wrong
 */
export function renderOptions(args: string[], folder?: string): RenderOptions | PermissionsOptions {
    const given = renderProgram.read<Given>(args);
    const names = renderProgram.args;
    return given.permissions ? permissionsOptions(given, names, folder) : renderingOptions(given, names, folder);
}

function renderingOptions(given: Given, names: string[], folder?: string): RenderOptions {
    const { out, force, variant, stack, all, subject, group } = given;
    if (all || subject.length + group.length + names.length > 0)
        throw new Error("experiments, --all, --subject and --group are only for --permissions: add it, or omit them");
    if (out === undefined) throw new Error("--out DIR is missing: name the rendering's folder");
    const set = settingsIn(given.set);
    const foreign = Object.keys(set).filter((key) => key in settings && !renderable.includes(key));
    if (foreign.length > 0)
        throw new Error(`--set ${foreign.join(", ")} does not affect the rendering; allowed: ${renderable.join(", ")}`);
    const ofStack = Object.entries(stack === undefined ? {} : plainSettings(stack, folder));
    const ofShop = Object.fromEntries(ofStack.filter(([key]) => !(key in settings) || renderable.includes(key)));
    const configuration = offlineConfiguration(
        { ...ofShop, ...set, ...(variant !== undefined && { variant }), "agent.enabled": "false" },
        "for rendering",
        [{ name: settings["experiment.name"].default }],
    );
    if (!force && existsSync(out) && readdirSync(out).length > 0)
        throw new Error(
            `--out ${out} is not empty; choose another folder, or add --force: it replaces an earlier ` +
                "rendering, and keeps its passwords and all other files",
        );
    return { out, configuration };
}

function permissionsOptions(given: Given, names: string[], folder?: string): PermissionsOptions {
    const { out, force, all, variant, stack = "local", subject, group } = given;
    if (out !== undefined || force)
        throw new Error(
            `--${force ? "force" : "out"} does not go with --permissions, which prints the roles: ` +
                "npm run -s render -- --permissions > roles.yaml",
        );
    if (all && names.length > 0) throw new Error(`--all is for all experiments: omit ${names.join(" ")}`);
    const saved = savedExperiments();
    const unknown = names.filter((name) => !saved.some((each) => each.name === name)).map((name) => `"${name}"`);
    if (unknown.length > 0)
        throw new Error(
            `there is no saved experiment ${unknown.join(" and ")}; ` +
                `allowed: ${saved.map(({ name }) => name).join(", ")}`,
        );
    const set: Record<string, string> = {
        ...plainSettings(stack, folder),
        ...settingsIn(given.set),
        ...(variant !== undefined && { variant }),
        // No right depends on the agent's key, which is a secret of the stack.
        "agent.key": "any-key-at-all",
    };
    const experiments: Record<string, string>[] = all
        ? fitting(set.variant).map(({ name }) => ({ "experiment.name": name }))
        : names.length === 0
          ? [{}]
          : [...new Set(names)].map((name) => ({ "experiment.name": name }));
    return {
        configurations: experiments.map((experiment) => offlineConfiguration({ ...set, ...experiment }, stack, saved)),
        subjects: [
            ...subject.map((name): Subject => ({ kind: "User", name })),
            ...group.map((name): Subject => ({ kind: "Group", name })),
        ],
    };
}
