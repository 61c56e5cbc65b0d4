import { load } from "js-yaml";
import { existsSync, readFileSync } from "node:fs";
import { isUrl } from "../manifest/read";
import { type Found, setCommand } from "./mistakes";
import { type Install, type Setting, settings, type Values } from "./settings";

/**
 * Finds the mistakes in the settings for installing the shop.
 *
 * @param get a setting's value; undefined if it is unset or invalid
 * @param own the settings that the stack itself sets
 */
export function installMistakes(get: Values, own: ReadonlyMap<string, string>): Found[] {
    const install = get("install");
    if (install === undefined || install === "program") return [];
    // It is also the builtin agent's.
    const policiesHaveNoEffect = !get("agent.enabled") || get("agent.install") !== "builtin";
    const owner = install === "chart" ? "the chart's values set this (chart.values)" : "the manifest sets this";
    const reason = `install is ${install}: ${owner}; allowed: only if install is program`;
    const ignored = [...own.keys()]
        .filter((key) => !isHeededBy(key, install) || (key === "networkPolicies" && policiesHaveNoEffect))
        .map((key) => ({ key, reason, command: `pulumi config rm ${key}` }));
    const values = get("chart.values");
    if (install === "manifest") return [...ignored, ...manifestMistakes("manifest", get("manifest"))];
    return values === undefined ? ignored : [...ignored, ...valuesFileMistakes("chart.values", values)];
}

function isHeededBy(key: string, install: Install): boolean {
    const { heededBy } = (settings as Record<string, Setting<unknown>>)[key] ?? {};
    return heededBy?.includes(install) ?? true;
}

/** Finds what is wrong with the location of a manifest that is to be installed. */
export function manifestMistakes(key: "manifest" | "agent.manifest", location: string | undefined): Found[] {
    const command = setCommand(key, settings[key].example);
    if (location === undefined) {
        const install = key === "manifest" ? "install" : "agent.install";
        return [{ key, reason: `${install} is manifest; allowed: a path or URL`, command }];
    }
    if (isUrl(location) || existsSync(location)) return [];
    const reason = "there is no such file; allowed: a path relative to the project's folder, or a URL";
    return [{ key, reason, command }];
}

/** Finds what is wrong with a chart's values file. */
export function valuesFileMistakes(key: "chart.values" | "agent.values", path: string): Found[] {
    const reason = valuesFileProblem(path);
    if (reason === undefined) return [];
    return [{ key, reason, command: setCommand(key, settings[key].example) }];
}

function valuesFileProblem(path: string): string | undefined {
    if (!existsSync(path)) return "there is no such file; allowed: a path relative to the project's folder";
    try {
        // Like Helm, accepts an empty file.
        const values: unknown = load(readFileSync(path, "utf8")) ?? {};
        if (typeof values === "object" && !Array.isArray(values)) return undefined;
        return "it contains no values; allowed: a YAML mapping of names to values";
    } catch (error) {
        // The parser's message quotes the file, which may hold a password.
        const { line } = (error as { mark?: { line: number } }).mark ?? {};
        return `it is not YAML${line === undefined ? "" : `: look at line ${line + 1}`}; allowed: a YAML file`;
    }
}
