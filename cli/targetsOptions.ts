import { parseArgs } from "node:util";
import { parseAttributes } from "../shared/attributes";

export interface TargetsOptions {
    json: boolean;
    /** All must hold. */
    expressions: string[];
    stack: string;
    /** The shop's. Undefined: what the stack's file says. */
    namespace?: string;
}

/** What the arguments of `npm run targets` ask for, or what is wrong with them. */
export function targetsOptions(args: string[]): TargetsOptions | { help: true } | { mistake: string } {
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
