import { asVariable, fromVariable, maxVariableLength } from "./variable";

/**
 * A step's result as it prints it: JSON, compressed if it is long. The next step gets it in an environment variable.
 *
 * @throws Error if it is too long even so: some 1,000 targets are
 */
export function printed(result: unknown): string {
    const text = asVariable(JSON.stringify(result));
    if (text.length <= maxVariableLength) return text;
    throw new Error(
        `the targets are too many for one experiment: what is known about them takes ${text.length} bytes, and ` +
            `${maxVariableLength} are possible. Nothing was attacked. Lower the radius`,
    );
}

/** What a step has printed. */
export function parsed<T>(text: string): T {
    return JSON.parse(fromVariable(text)) as T;
}
