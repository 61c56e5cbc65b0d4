import { existsSync, readdirSync } from "node:fs";
import { join } from "shlex";
import { kubectl } from "../chaos/values/kubectl";
import { permissionsOf } from "../chaos/rights/permissions";
import { rolesManifest, type Subject } from "../chaos/rights/roles";
import { outsideOfAgent } from "../components/agent/foreign-objects";
import { rightsOfUpdate } from "../components/cluster/rights";
import { experimentSettings, type StackConfiguration } from "../components/configuration/read";
import { settings } from "../components/configuration/settings";
import { npmCommand } from "../components/pulumi-command";
import { planOnShop } from "../experiments/run";
import { savedExperiments } from "../experiments/saved";
import { settingsIn } from "./command";
import { fitting } from "./experiment-list";
import { offlineConfiguration } from "./offline-configuration";
import { renderable, renderProgram } from "./programs";
import { chartFolder } from "./rendering/chart";
import { manifestsFolder, render } from "./rendering/render";
import { plainSettings } from "./stack-file";

export interface RenderOptions {
    out: string;
    configuration: StackConfiguration;
    /** The kubeconfig context that the stack's file has. @default the rendering is of no cluster */
    context?: string;
}

export interface PermissionsOptions {
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
    const set = settingsIn(given.set, stack ?? "local");
    const foreign = Object.keys(set).filter((key) => Object.hasOwn(settings, key) && !renderable.includes(key));
    if (foreign.length > 0)
        throw new Error(`--set ${foreign.join(", ")} does not affect the rendering; allowed: ${renderable.join(", ")}`);
    const ofStack = stack === undefined ? {} : plainSettings(stack, folder);
    const ofShop = Object.fromEntries(
        Object.entries(ofStack).filter(([key]) => !Object.hasOwn(settings, key) || renderable.includes(key)),
    );
    const configuration = offlineConfiguration(
        ofShop,
        { ...(variant && { variant }), ...set, "agent.enabled": "false" },
        stack ?? "for rendering",
        [{ name: settings["experiment.name"].default }],
    );
    if (!force && existsSync(out) && readdirSync(out).length > 0)
        throw new Error(
            `--out ${out} is not empty; choose another folder, or add --force: it replaces an earlier ` +
                "rendering, and keeps its passwords and all other files",
        );
    return { out, configuration, context: ofStack["kube.context"] };
}

function permissionsOptions(given: Given, names: string[], folder?: string): PermissionsOptions {
    const { out, force, all, variant, stack = "local", subject, group } = given;
    if (out !== undefined || force)
        throw new Error(
            `--${force ? "force" : "out"} does not go with --permissions, which prints the roles: ` +
                `${npmCommand(["-s", "render", "--", "--permissions"], stack)} > roles.yaml`,
        );
    if (all && names.length > 0) throw new Error(`--all is for all experiments: omit ${names.join(" ")}`);
    const saved = savedExperiments();
    const unknown = names.filter((name) => !saved.some((each) => each.name === name)).map((name) => `"${name}"`);
    if (unknown.length > 0)
        throw new Error(
            `there is no saved experiment ${unknown.join(" and ")}; ` +
                `allowed: ${saved.map(({ name }) => name).join(", ")}`,
        );
    const inFile = plainSettings(stack, folder);
    const set: Record<string, string> = {
        ...(variant && { variant }),
        ...settingsIn(given.set, stack),
        // No right depends on the agent's key, which is a secret of the stack.
        "agent.key": "any-key-at-all",
    };
    const experiments: Record<string, string>[] = all
        ? fitting(set.variant ?? inFile.variant).map(({ name }) => ({ "experiment.name": name }))
        : names.length === 0
          ? [{}]
          : [...new Set(names)].map((name) => ({ "experiment.name": name }));
    return {
        configurations: experiments.map((experiment) =>
            offlineConfiguration(inFile, { ...set, ...experiment }, stack, saved),
        ),
        subjects: [
            ...subject.map((name): Subject => ({ kind: "User", name })),
            ...group.map((name): Subject => ({ kind: "Group", name })),
        ],
    };
}

/**
 * The roles of a person who runs some experiments on a shop that is installed, and undoes them.
 *
 * @throws Error if the agent's manifest cannot be read
 */
export async function permissionsManifest({ configurations, subjects }: PermissionsOptions): Promise<string> {
    // No right depends on the context.
    const plans = configurations.map((configuration) => planOnShop(experimentSettings(configuration, { name: "any" })));
    const names = plans.map(({ experiment }) => experiment);
    const name = `chaos-shop-${names.length === 1 ? names[0] : "experiments"}`;
    const { namespace } = configurations[0]!;
    const outside = await outsideOfAgent(configurations[0]!);
    const head = [
        `Runs and undoes ${names.join(", ")} on the shop in namespace ${namespace} by updates of its stack.`,
        "Not for changes of the shop or its agent. See docs/permissions.md.",
    ];
    const rights = permissionsOf(
        plans,
        configurations.flatMap((configuration) => rightsOfUpdate(configuration, outside)),
    );
    const manifest = rolesManifest(rights, { name, clusterName: `${name}-${namespace}`, subjects });
    return `${head.map((line) => `# ${line}`).join("\n")}\n${manifest}`;
}

export function installCommands({ out, configuration: { namespace }, context }: RenderOptions): string[] {
    const inContext = context === undefined ? [] : ["--kube-context", context];
    const waiting = ["--wait", "--timeout", "5m0s", "--namespace", namespace, "--create-namespace"];
    return [
        `${kubectl({ context })} ${join(["apply", "--filename", `${out}/${manifestsFolder}`])}`,
        join(["helm", "upgrade", "--install", ...inContext, ...waiting, "shop", `${out}/${chartFolder}`]),
    ];
}

async function write(options: RenderOptions): Promise<void> {
    const { out, configuration } = options;
    await render(configuration, out);
    console.log(`Wrote ${out}. Install or update the shop with one of:

  ${installCommands(options).join("\n  ")}

${out}/${manifestsFolder} contains random passwords: keep *-secret-*.yaml out of version control.
The chart contains no passwords. Its values, such as hosts of an Ingress, are in ${out}/${chartFolder}/values.yaml.`);
}

if (require.main === module)
    renderProgram.run(renderOptions, async (options) => {
        if ("out" in options) await write(options);
        else process.stdout.write(await permissionsManifest(options));
    });
