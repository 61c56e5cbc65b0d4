import { parseArgs } from "node:util";
import type { Parsed } from "../cli/program";

export interface BenchOptions {
    json: boolean;
    names: string[];
}

/** Parses the arguments of `npm run bench`. @param known names of all figures, in the order of measuring */
export function readOptions(args: string[], known: readonly string[]): Parsed<BenchOptions> {
    try {
        const { values, positionals } = parseArgs({
            args,
            allowPositionals: true,
            options: {
                json: { type: "boolean", default: false },
                help: { type: "boolean", short: "h", default: false },
            },
        });
        if (values.help) return { help: true };
        const unknown = positionals.filter((name) => !known.includes(name));
        if (unknown.length > 0)
            return { mistake: `no figure is named ${unknown.join(", ")}; there are ${known.join(", ")}` };
        const names = positionals.length === 0 ? [...known] : known.filter((name) => positionals.includes(name));
        return { json: values.json, names };
    } catch (error) {
        return { mistake: `${(error as Error).message}; allowed: --json, --help, ${known.join(", ")}` };
    }
}
