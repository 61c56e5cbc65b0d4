import * as pulumi from "@pulumi/pulumi";
import { join } from "shlex";

/** The stack of the running program. Empty outside of one, where the SDK says "stack". */
export function runningStack(): string {
    const stack = pulumi.getStack();
    return stack === "stack" && !pulumi.runtime.hasMonitor() ? "" : stack;
}

/**
 * A command that can be pasted into a POSIX shell in the project's folder. It names the stack, since another one may be
 * selected.
 *
 * @param words such as `["config", "set", key, value]`; they are quoted where necessary
 * @param stack empty for none. @default that of the running program
 */
export const pulumiCommand = (words: readonly string[], stack = runningStack()): string =>
    join(["npx", "pulumi", ...words, ...(stack === "" ? [] : ["--stack", stack])]);
