import { existsSync, readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { ConfigurationError } from "../components/configuration/mistakes";
import { readConfiguration, type StackConfiguration } from "../components/configuration/read";
import { settings } from "../components/configuration/settings";
import { settingsIn } from "./settingsOption";
import { plainSettings } from "./stackFile";

export interface RenderOptions {
    /** Where the rendering goes. */
    out: string;
    configuration: StackConfiguration;
}

/** Settings that are not of the shop: of them a rendering has nothing. */
const notOfShop = /^(?:agent|experiment|kube|cluster|install|chart|manifest)(?:\.|$)|Timeout$|^storage\.keep$/;

/** The settings that a rendering can be made with. */
export const renderable = Object.keys(settings).filter((key) => !notOfShop.test(key));

/** What the arguments of `npm run render` ask for, or all that is wrong with them. */
export function renderOptions(args: string[]): RenderOptions | { help: true } | { mistake: string } {
    try {
        const { values } = parseArgs({
            args,
            options: {
                out: { type: "string" },
                variant: { type: "string" },
                stack: { type: "string" },
                set: { type: "string", multiple: true, default: [] },
                force: { type: "boolean", default: false },
                help: { type: "boolean", short: "h", default: false },
            },
        });
        if (values.help) return { help: true };
        if (values.out === undefined) throw new Error("there is no --out DIR: say where the rendering goes");
        const given = settingsIn(values.set);
        const foreign = Object.keys(given).filter((key) => notOfShop.test(key));
        if (foreign.length > 0)
            throw new Error(
                `--set ${foreign.join(", ")} is not of the shop, and in no rendering; allowed: ${renderable.join(", ")}`,
            );
        const stacks = values.stack === undefined ? {} : plainSettings(values.stack);
        const ofShop = Object.fromEntries(Object.entries(stacks).filter(([key]) => !notOfShop.test(key)));
        const configuration = configurationOf({
            ...ofShop,
            ...given,
            ...(values.variant !== undefined && { variant: values.variant }),
        });
        if (!values.force && existsSync(values.out) && readdirSync(values.out).length > 0) {
            throw new Error(
                `--out ${values.out} is a folder that is not empty; choose another, or add --force: an earlier rendering in it is replaced, its passwords kept, and all else left alone`,
            );
        }
        return { out: values.out, configuration };
    } catch (error) {
        return { mistake: (error as Error).message };
    }
}

function configurationOf(set: Record<string, string>): StackConfiguration {
    const raw = Object.fromEntries(
        Object.entries({ ...set, "agent.enabled": "false" }).map(([key, value]) => [`chaos-shop:${key}`, value]),
    );
    try {
        return readConfiguration(raw, {
            project: "chaos-shop",
            stack: "of this rendering",
            experiments: [{ name: settings["experiment.name"].default! }],
        });
    } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        throw new Error(
            error.mistakes
                .map(({ key, value, reason }) => `${key} is "${value}": ${reason}; give it with --set ${key}=VALUE`)
                .join("\n"),
        );
    }
}
