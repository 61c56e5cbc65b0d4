import { stripVTControlCharacters } from "node:util";
import { explain } from "../cluster/problem";
import { withoutCredentials } from "../values/without-credentials";

/** An error's message without stack trace, engine output, terminal colors and credentials in URLs. */
export function plainError(error: unknown): string {
    const message = stripVTControlCharacters(explain(error));
    const diagnostics =
        /Diagnostics:\n([\s\S]*?)(?:\n\n(?:Outputs|Resources|Policies)|\n\s*stderr:|$)/.exec(message)?.[1] ??
        // A command of the CLI that never began an update.
        /^code: -?\d+\n stdout:[\s\S]*?\n stderr: (?:Command failed.*\n)?(error: [\s\S]*?)\n(?: err\?:|$)/.exec(
            message,
        )?.[1];
    // The SDK and the engine both report an error of a program in this process.
    const reports = new Set((diagnostics ?? message).split(/\n(?=\s+error: )/));
    return withoutCredentials([...reports].join("\n").trim());
}

/** Why undoing failed. @param before what was printed of the update before: the same mistake often fails both */
export const whyNotUndone = (error: unknown, before?: string): string =>
    plainError(error) === before ? "Undoing it failed for the same reason" : plainError(error);
