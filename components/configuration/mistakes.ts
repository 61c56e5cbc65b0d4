import type { Setting } from "./settings";

/** One thing wrong with a stack's configuration, and the command that fixes it. */
export interface Mistake {
    key: string;
    /** The stack's value. Undefined if it has none. */
    value?: string;
    reason: string;
    command: string;
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

/** A valid value of a setting. */
export const suggestion = (setting: Setting<unknown>) => setting.default ?? setting.example ?? "VALUE";

/** The command that sets a key, quoted for a shell. */
export const setCommand = (key: string, value: string) =>
    `pulumi config set ${key} ${/[^\w.,=:/%-]/.test(value) ? `'${value}'` : value}`;
