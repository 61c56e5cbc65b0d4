import * as pulumi from "@pulumi/pulumi";
import { join } from "shlex";

/** The stack of the running program. Empty outside of one, where the SDK says "stack". */
export function runningStack(): string {
    const stack = pulumi.getStack();
    return stack === "stack" && !pulumi.runtime.hasMonitor() ? "" : stack;
}

/**
 * A command that can be pasted into a POSIX shell in the project's folder. It names the stack, since another one may be
 * selected. It cannot name the file of an update with `--config-file`: Pulumi gives a program the values, and not the
 * path.
 *
 * @param words such as `["config", "set", key, value]`; they are quoted where necessary
 * @param stack empty for none. @default that of the running program
 */
export const pulumiCommand = (words: readonly string[], stack = runningStack()): string =>
    join(["npx", "pulumi", ...words, ...(stack === "" ? [] : ["--stack", stack])]);

/** The command that sets a value of a stack. @param stack @default that of the running program */
export const setCommand = (key: string, value: string, stack?: string) =>
    pulumiCommand(["config", "set", key, value], stack);

/** A command of `npm run` that can be pasted likewise. @param stack @default the one that it uses if it names none */
export const npmCommand = (words: readonly string[], stack = "local"): string =>
    join(["npm", "run", ...words, ...(stack === "local" ? [] : ["--stack", stack])]);
