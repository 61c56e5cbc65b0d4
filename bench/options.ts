import { parseArgs } from "node:util";

export type Options =
    { kind: "run"; json: boolean; names: string[] } | { kind: "help" } | { kind: "mistake"; message: string };

/** The bench's command line. @param known names of all figures, in the order in which they are measured */
export function readOptions(args: string[], known: readonly string[]): Options {
    try {
        const { values, positionals } = parseArgs({
            args,
            allowPositionals: true,
            options: {
                json: { type: "boolean", default: false },
                help: { type: "boolean", short: "h", default: false },
            },
        });
        if (values.help) return { kind: "help" };
        const unknown = positionals.filter((name) => !known.includes(name));
        if (unknown.length > 0)
            return {
                kind: "mistake",
                message: `no figure is named ${unknown.join(", ")}; there are ${known.join(", ")}`,
            };
        return {
            kind: "run",
            json: values.json,
            names: positionals.length === 0 ? [...known] : known.filter((name) => positionals.includes(name)),
        };
    } catch (error) {
        return {
            kind: "mistake",
            message: `${(error as Error).message}; allowed: --json, --help, ${known.join(", ")}`,
        };
    }
}
