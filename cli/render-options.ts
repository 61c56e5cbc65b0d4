import { existsSync, readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import type { StackConfiguration } from "../components/configuration/read";
import { settings } from "../components/configuration/settings";
import { offlineConfiguration } from "./offline-configuration";
import type { Parsed } from "./program";
import { settingsIn } from "./settings-option";
import { plainSettings } from "./stack-file";

export interface RenderOptions {
    /** The rendering's folder. */
    out: string;
    configuration: StackConfiguration;
}

/** Settings that do not affect the shop's objects. */
const notOfShop = /^(?:agent|experiment|kube|cluster|install|chart|manifest)(?:\.|$)|Timeout$|^storage\.keep$/;

/** The settings that affect a rendering. */
export const renderable = Object.keys(settings).filter((key) => !notOfShop.test(key));

/** Parses the arguments of `npm run render`. */
export function renderOptions(args: string[]): Parsed<RenderOptions> {
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
        if (values.out === undefined) throw new Error("--out DIR is missing: name the rendering's folder");
        const given = settingsIn(values.set);
        const foreign = Object.keys(given).filter((key) => notOfShop.test(key));
        if (foreign.length > 0)
            throw new Error(
                `--set ${foreign.join(", ")} does not affect the rendering; allowed: ${renderable.join(", ")}`,
            );
        const stacks = values.stack === undefined ? {} : plainSettings(values.stack);
        const ofShop = Object.fromEntries(Object.entries(stacks).filter(([key]) => !notOfShop.test(key)));
        const set = {
            ...ofShop,
            ...given,
            ...(values.variant !== undefined && { variant: values.variant }),
            "agent.enabled": "false",
        };
        const experiments = [{ name: settings["experiment.name"].default! }];
        const configuration = offlineConfiguration(set, "for rendering", experiments);
        if (!values.force && existsSync(values.out) && readdirSync(values.out).length > 0) {
            throw new Error(
                `--out ${values.out} is not empty; choose another folder, or add --force: it replaces an earlier ` +
                    "rendering, and keeps its passwords and all other files",
            );
        }
        return { out: values.out, configuration };
    } catch (error) {
        return { mistake: (error as Error).message };
    }
}
