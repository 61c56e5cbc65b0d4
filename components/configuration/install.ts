import { manifestMistakes, valuesFileMistakes } from "./files";
import type { Mistake } from "./mistakes";
import { type Install, type Setting, settings, type Values } from "./settings";

/**
 * Finds the mistakes in the settings for installing the shop.
 *
 * @param get a setting's value; undefined if it is unset or invalid
 * @param own the settings that the stack itself sets
 */
export function installMistakes(get: Values, own: ReadonlyMap<string, string>): Mistake[] {
    const install = get("install");
    if (install === undefined || install === "program") return [];
    // It is also the builtin agent's.
    const policiesHaveNoEffect = !get("agent.enabled") || get("agent.install") !== "builtin";
    const ignored = [...own]
        .filter(([key]) => !isHeededBy(key, install) || (key === "networkPolicies" && policiesHaveNoEffect))
        .map(([key, value]) => ownedElsewhere(key, value, install));
    const values = get("chart.values");
    if (install === "manifest") return [...ignored, ...manifestMistakes("manifest", get("manifest"))];
    return values === undefined ? ignored : [...ignored, ...valuesFileMistakes("chart.values", values)];
}

function isHeededBy(key: string, install: Install): boolean {
    const { heededBy } = (settings as Record<string, Setting<unknown>>)[key] ?? {};
    return heededBy?.includes(install) ?? true;
}

/** Settings owned by the chart or manifest are rejected. */
function ownedElsewhere(key: string, value: string, install: "chart" | "manifest"): Mistake {
    const owner = install === "chart" ? "the chart's values set this (chart.values)" : "the manifest sets this";
    const reason = `install is ${install}: ${owner}; allowed: only if install is program`;
    return { key, value, reason, command: `pulumi config rm ${key}` };
}
