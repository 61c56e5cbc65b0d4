import { type Key, type Setting, settings } from "./settings";

export interface Found {
    key: string;
    reason: string;
    command: string;
}

export interface Mistake extends Found {
    value?: string;
}

/** Everything that is wrong with a stack's configuration, reported at once. */
export class ConfigurationError extends Error {
    constructor(
        stack: string,
        readonly mistakes: readonly Mistake[],
    ) {
        const count = mistakes.length === 1 ? "a mistake" : `${mistakes.length} mistakes`;
        super(`the configuration of stack ${stack} has ${count}:\n\n${mistakes.map(describe).join("\n\n")}\n`);
        this.name = "ConfigurationError";
    }
}

function describe({ key, value, reason, command }: Mistake): string {
    const state = value === undefined ? "not set" : `"${value}"`;
    return `  ${key} is ${state}\n    ${reason}\n    fix it with: ${command}`;
}

export const suggestion = (setting: Setting<unknown>) => setting.default ?? setting.example ?? "VALUE";

/** The command that sets a key, quoted for a shell. */
export const setCommand = (key: string, value: string) =>
    `pulumi config set ${key} ${/[^\w.,=:/%-]/.test(value) ? `'${value}'` : value}`;

/** The mistake of setting an unknown key: usually a typing error, or a key that was set with `--path`. */
export function unknownKey(key: string, value: string): Found {
    const remove = `pulumi config rm ${key}`;
    const nested = Object.keys(settings).filter((known) => known.startsWith(`${key}.`));
    if (nested.length > 0) {
        const reason = `dots are part of a key; set these keys without --path: ${nested.join(", ")}`;
        const set = setCommand(nested[0]!, suggestion(settings[nested[0] as Key]));
        return { key, reason, command: `${remove} && ${set}` };
    }
    const nearest = nearestKey(key);
    if (nearest === undefined) {
        const reason = `there is no such setting; allowed: ${Object.keys(settings).join(", ")}`;
        return { key, reason, command: remove };
    }
    const reason = `there is no such setting; did you mean ${nearest}?`;
    return { key, reason, command: `${remove} && ${setCommand(nearest, value)}` };
}

/** The setting that a mistyped key most likely means: at most a third of its letters differ. */
function nearestKey(key: string): string | undefined {
    const ranked = Object.keys(settings)
        .map((known) => ({ known, distance: editDistance(key.toLowerCase(), known.toLowerCase()) }))
        .sort((a, b) => a.distance - b.distance);
    const best = ranked[0]!;
    return best.distance <= Math.ceil(best.known.length / 3) ? best.known : undefined;
}

/** Levenshtein distance: the number of letters to insert, delete or replace. */
function editDistance(a: string, b: string): number {
    let row = Array.from({ length: b.length + 1 }, (_, j) => j);
    for (let i = 1; i <= a.length; i++) {
        const next = [i];
        for (let j = 1; j <= b.length; j++)
            next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
        row = next;
    }
    return row[b.length]!;
}
