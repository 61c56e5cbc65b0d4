import * as provider from "@pulumi/pulumi/proto/provider_pb";
import { isObject, isSecret, type Properties, type Value } from "./values";

const { Kind } = provider.PropertyDiff;
const { DIFF_NONE, DIFF_SOME } = provider.DiffResponse.DiffChanges;

/** A property path, such as `environment.PATH` or `triggers[0]`, and its change. */
type Difference = readonly [path: string, kind: "ADD" | "DELETE" | "UPDATE"];

/**
 * The answer to the engine's Diff: a change of a command's inputs updates it, a change of its triggers replaces it.
 *
 * @param ignored top-level inputs whose changes are ignored (the resource option `ignoreChanges`).
 */
export function diffResponse(
    oldInputs: Properties,
    newInputs: Properties,
    ignored: readonly string[],
): provider.DiffResponse {
    const found = compareObjects("", oldInputs, newInputs).filter(([path]) => !ignored.includes(rootOf(path)));
    const roots = [...new Set(found.map(([path]) => rootOf(path)))];
    const response = new provider.DiffResponse()
        .setChanges(found.length > 0 ? DIFF_SOME : DIFF_NONE)
        .setDiffsList(roots)
        .setReplacesList(roots.filter((root) => root === "triggers"))
        .setHasdetaileddiff(true);
    const detailed = response.getDetaileddiffMap();
    for (const [path, kind] of found) {
        const detail = rootOf(path) === "triggers" ? (`${kind}_REPLACE` as const) : kind;
        detailed.set(path, new provider.PropertyDiff().setKind(Kind[detail]).setInputdiff(true));
    }
    return response;
}

/** The first property of a path. */
function rootOf(path: string): string {
    return /^[^.[]*/.exec(path)?.[0] ?? path;
}

function compareObjects(path: string, olds: Properties, news: Properties): Difference[] {
    const names = [...new Set([...Object.keys(olds), ...Object.keys(news)])].sort();
    return names.flatMap((name) => compare(memberPath(path, name), olds[name], news[name]));
}

function compare(path: string, older: Value | undefined, newer: Value | undefined): Difference[] {
    if (older === undefined || newer === undefined)
        return older === newer ? [] : [[path, older === undefined ? "ADD" : "DELETE"]];
    // The state must learn that a value became a secret, or no longer is one.
    if (isSecret(older) !== isSecret(newer)) return [[path, "UPDATE"]];
    if (isSecret(older) && isSecret(newer))
        return compare(path, older.value, newer.value).length > 0 ? [[path, "UPDATE"]] : [];
    if (Array.isArray(older) && Array.isArray(newer)) {
        const [olds, news] = [older as readonly Value[], newer as readonly Value[]];
        const longer = olds.length > news.length ? olds : news;
        return longer.flatMap((_, index) => compare(`${path}[${index}]`, olds[index], news[index]));
    }
    if (isObject(older) && isObject(newer)) return compareObjects(path, older, newer);
    return older === newer ? [] : [[path, "UPDATE"]];
}

function memberPath(path: string, name: string): string {
    if (path === "") return name;
    return /^[A-Za-z_$][\w$]*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}
