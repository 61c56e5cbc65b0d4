/** The `runtime.options` in Pulumi.yaml that running a program takes. */
export interface RuntimeOptions {
    /** Load the program through ts-node. @default true */
    readonly typescript: boolean;
    /** Path of ts-node's tsconfig.json. */
    readonly tsconfig?: string;
    /** Arguments for `node`, split as by a shell. @default [] */
    readonly nodeargs: readonly string[];
}

/**
 * Checks a Pulumi.yaml's runtime options.
 *
 * @param options as sent by the engine: `{ typescript: false, nodeargs: "--require ./begin.js" }`.
 * @throws an error with every option of a wrong type, its value and the allowed values.
 */
export function parseRuntimeOptions(options: Readonly<Record<string, unknown>>): RuntimeOptions {
    const { typescript = true, tsconfig, nodeargs = "" } = options;
    const expected: [holds: boolean, name: string, allowed: string][] = [
        [typeof typescript === "boolean", "typescript", "true or false"],
        [tsconfig === undefined || typeof tsconfig === "string", "tsconfig", "a path"],
        [typeof nodeargs === "string", "nodeargs", 'a string, for example "--require ./begin.js"'],
    ];
    const mistakes = expected
        .filter(([holds]) => !holds)
        .map(
            ([, name, allowed]) =>
                `runtime option ${name} is ${JSON.stringify(options[name])}, but must be ${allowed}; see Pulumi.yaml`,
        );
    if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
    return {
        typescript: typescript as boolean,
        tsconfig: tsconfig as string | undefined,
        nodeargs: splitWords(nodeargs as string),
    };
}

/** Plain, escaped, single-quoted and double-quoted pieces without white space between them. */
const word = /(?:\\[^]|'[^']*'|"(?:\\[^]|[^"\\])*"|[^\s'"\\])+/g;

/**
 * Splits a command line into words as a shell does, without expansion.
 *
 * @throws an error if a quote is not closed.
 */
export function splitWords(line: string): string[] {
    if (line.replace(word, "").trim() !== "") {
        throw new Error(`runtime option nodeargs has a quote that is not closed: ${line}`);
    }
    return (line.match(word) ?? []).map((text) =>
        text.replace(
            /\\([^])|'([^']*)'|"((?:\\[^]|[^"\\])*)"/g,
            (_, escaped?: string, single?: string, double?: string) =>
                escaped ?? single ?? double!.replace(/\\(["\\$`])/g, "$1"),
        ),
    );
}
