import { parseArgs } from "node:util";
import { parseAttributes } from "../chaos/targets/attributes";
import type { Parsed } from "./program";

export interface TargetsOptions {
    json: boolean;
    /** A target must match all of them. */
    expressions: string[];
    stack: string;
    /** The shop's namespace. @default the one in the stack's file */
    namespace?: string;
}

/** Parses the arguments of `npm run targets`. */
export function targetsOptions(args: string[]): Parsed<TargetsOptions> {
    try {
        const { values, positionals } = parseArgs({
            args,
            allowPositionals: true,
            options: {
                help: { type: "boolean", short: "h" },
                json: { type: "boolean", default: false },
                stack: { type: "string", default: "local" },
                namespace: { type: "string" },
            },
        });
        if (values.help) return { help: true };
        positionals.forEach(parseAttributes);
        return { json: values.json, expressions: positionals, stack: values.stack, namespace: values.namespace };
    } catch (error) {
        return { mistake: (error as Error).message };
    }
}
