import type { Setting } from "./settings";

/** One thing wrong with a stack's configuration, and how to mend it. */
export interface Mistake {
    key: string;
    /** As the stack has it; undefined where it has none. */
    value?: string;
    reason: string;
    command: string;
}

/** All that is wrong with a stack's configuration, told at once. */
export class ConfigurationError extends Error {
    constructor(
        stack: string,
        readonly mistakes: readonly Mistake[],
    ) {
        const told = mistakes.map(
            ({ key, value, reason, command }) =>
                `  ${key} is ${value === undefined ? "not set" : `"${value}"`}\n    ${reason}\n    mend it with: ${command}`,
        );
        super(
            `the configuration of stack ${stack} has ${mistakes.length === 1 ? "a mistake" : `${mistakes.length} mistakes`}:\n\n${told.join("\n\n")}\n`,
        );
        this.name = "ConfigurationError";
    }
}

/** A value that the setting allows. */
export const suggestion = (setting: Setting<unknown>) => setting.default ?? setting.example ?? "VALUE";

/** The command that sets a key, as a shell takes it. */
export const setCommand = (key: string, value: string) =>
    `pulumi config set ${key} ${/[^\w.,=:/%-]/.test(value) ? `'${value}'` : value}`;
