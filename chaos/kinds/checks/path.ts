/**
 * Paths in JSON: keys and indices joined by dots. As in kubectl, `\.` is a dot that belongs to a key, and `\\` a
 * backslash before a dot or another backslash.
 */
import { UnseenError } from "./answer";

/** Paths of values that are to be set have no empty key. */
export const fieldPattern = /^(?:[^.\\]|\\.)+(?:\.(?:[^.\\]|\\.)+)*$/s;

export function keysOf(path: string): string[] {
    const keys = [""];
    for (const [part] of path.matchAll(/\\[.\\]|[^]/g)) {
        if (part === ".") keys.push("");
        else keys.push(keys.pop()! + part.slice(-1));
    }
    return keys;
}

export const joinKeys = (keys: readonly string[]): string =>
    keys.map((key) => key.replace(/[.\\]/g, (character) => `\\${character}`)).join(".");

export const valueAt = (document: unknown, path: string): unknown => keysOf(path).reduce(valueOf, document);

function valueOf(value: unknown, key: string): unknown {
    const there = typeof value === "object" && value !== null && Object.hasOwn(value, key);
    return there ? (value as Record<string, unknown>)[key] : undefined;
}

/**
 * As `valueAt`. @throws UnseenError if there is no value, but would be one if dots of the path belonged to a key: that
 * is a mistake
 */
export function foundAt(document: unknown, path: string): unknown {
    const found = valueAt(document, path);
    if (found !== undefined) return found;
    const meant = withDots(document, keysOf(path));
    if (meant === undefined) return undefined;
    throw new UnseenError(
        `${path} is missing, and there is ${joinKeys(meant)}: write \\. for a dot that belongs to a key`,
    );
}

/**
 * Keys that lead to a value, where one key may be several of the given ones, joined by dots. The longest come first.
 */
function withDots(value: unknown, keys: readonly string[]): string[] | undefined {
    if (keys.length === 0) return [];
    for (let count = keys.length; count > 0; count--) {
        const key = keys.slice(0, count).join(".");
        const inner = valueOf(value, key);
        const rest = inner === undefined ? undefined : withDots(inner, keys.slice(count));
        if (rest) return [key, ...rest];
    }
    return undefined;
}
