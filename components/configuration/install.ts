import { load } from "js-yaml";
import { readFileSync, statSync } from "node:fs";
import { isUrl } from "../manifest/read";
import type { Found } from "./mistakes";
import { type Given, type Install, settingOf, settings, type Values } from "./settings";

export function installMistakes({ get, own }: Given): Found[] {
    const install = get("install");
    if (install === undefined || install === "program") return [];
    // It is also the builtin agent's.
    const policiesHaveNoEffect = !get("agent.enabled") || get("agent.install") !== "builtin";
    const owner = install === "chart" ? "the chart's values set this (chart.values)" : "the manifest sets this";
    const reason = `install is ${install}: ${owner}; allowed: only if install is program`;
    const ignored = [...own.keys()]
        .filter((key) => !isHeededBy(key, install) || (key === "networkPolicies" && policiesHaveNoEffect))
        .map((key) => ({ key, reason, mend: { [key]: undefined } }));
    return [...ignored, ...sourceMistakes(get, "shop")];
}

export const isHeededBy = (key: string, install: Install): boolean =>
    settingOf(key)?.heededBy?.includes(install) ?? true;

/** The settings that say from where something is installed. */
const sources = {
    shop: { install: "install", manifest: "manifest", values: "chart.values" },
    agent: { install: "agent.install", manifest: "agent.manifest", values: "agent.values" },
} as const;

export function sourceMistakes(get: Values, of: keyof typeof sources): Found[] {
    const { install, manifest, values } = sources[of];
    const by = get(install);
    if (by !== "manifest" && by !== "chart") return [];
    const key = by === "manifest" ? manifest : values;
    const reason = by === "manifest" ? manifestProblem(get(key), install) : valuesFileProblem(get(key));
    return reason === undefined ? [] : [{ key, reason, mend: { [key]: settings[key].example } }];
}

function manifestProblem(location: string | undefined, install: string): string | undefined {
    if (location === undefined) return `${install} is manifest; allowed: a path or URL`;
    return isUrl(location) ? undefined : fileProblem(location, ", or a URL");
}

function fileProblem(path: string, orElse = ""): string | undefined {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return `there is no such file; allowed: a path relative to the project's folder${orElse}`;
    return found.isDirectory() ? `it is a folder; allowed: one file${orElse}` : undefined;
}

function valuesFileProblem(path: string | undefined): string | undefined {
    if (path === undefined) return undefined;
    const problem = fileProblem(path);
    if (problem !== undefined) return problem;
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
