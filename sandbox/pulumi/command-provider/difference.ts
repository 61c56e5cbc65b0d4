import { isObject, isSecret, type Properties, type Value } from "./values";

export type DifferenceKind = "add" | "delete" | "update";

/** A property path, such as `environment.PATH` or `triggers[0]`, and what became of it. */
export type Difference = readonly [path: string, kind: DifferenceKind];

/** Every place at which two sets of properties differ, in the order of their names. */
export function differences(olds: Properties, news: Properties): Difference[] {
    return compareObjects("", olds, news);
}

/** The name of the property at which a path begins. */
export function rootOf(path: string): string {
    return /^[^.[]*/.exec(path)?.[0] ?? path;
}

function compareObjects(path: string, olds: Properties, news: Properties): Difference[] {
    const names = [...new Set([...Object.keys(olds), ...Object.keys(news)])].sort();
    return names.flatMap((name) => compare(memberPath(path, name), olds[name], news[name]));
}

function compare(path: string, older: Value | undefined, newer: Value | undefined): Difference[] {
    if (older === undefined || newer === undefined) {
        return older === newer ? [] : [[path, older === undefined ? "add" : "delete"]];
    }
    // That a value became a secret, or no longer is one, must reach the state.
    if (isSecret(older) !== isSecret(newer)) {
        return [[path, "update"]];
    }
    if (isSecret(older) && isSecret(newer)) {
        return compare(path, older.value, newer.value).length > 0 ? [[path, "update"]] : [];
    }
    if (Array.isArray(older) && Array.isArray(newer)) {
        const indices = Array.from({ length: Math.max(older.length, newer.length) }, (_, index) => index);
        return indices.flatMap((index) => compare(`${path}[${index}]`, older[index], newer[index]));
    }
    if (isObject(older) && isObject(newer)) {
        return compareObjects(path, older, newer);
    }
    return older === newer ? [] : [[path, "update"]];
}

function memberPath(path: string, name: string): string {
    if (path === "") {
        return name;
    }
    return /^[A-Za-z_$][\w$]*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}
