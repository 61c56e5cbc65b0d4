/** The `runtime.options` in Pulumi.yaml of the Node language host. */
export interface RuntimeOptions {
    /** Load the program through ts-node. @default true */
    readonly typescript: boolean;
    /** Path of ts-node's tsconfig.json. */
    readonly tsconfig?: string;
    /** Arguments for `node`, split as by a shell. @default [] */
    readonly nodeargs: readonly string[];
    /** For `pulumi install`. @default "auto": by the lock file, else npm */
    readonly packagemanager: PackageManager | "auto";
}

const packageManagers = ["npm", "yarn", "pnpm", "bun"] as const;

export type PackageManager = (typeof packageManagers)[number];

/**
 * Checks a Pulumi.yaml's runtime options.
 *
 * @param options as sent by the engine: `{ typescript: false, nodeargs: "--require ./begin.js" }`.
 * @throws an error with every option of a wrong type, its value and the allowed values.
 */
export function parseRuntimeOptions(options: Readonly<Record<string, unknown>>): RuntimeOptions {
    const { typescript = true, tsconfig, nodeargs = "", packagemanager = "auto" } = options;
    const mistakes: string[] = [];
    const expect = (holds: boolean, name: string, found: unknown, allowed: string) => {
        if (!holds) {
            mistakes.push(
                `runtime option ${name} is ${JSON.stringify(found)}, but must be ${allowed}; see Pulumi.yaml`,
            );
        }
    };
    expect(typeof typescript === "boolean", "typescript", typescript, "true or false");
    expect(tsconfig === undefined || typeof tsconfig === "string", "tsconfig", tsconfig, "a path");
    expect(typeof nodeargs === "string", "nodeargs", nodeargs, 'a string, for example "--require ./begin.js"');
    const managers: readonly unknown[] = ["auto", ...packageManagers];
    expect(managers.includes(packagemanager), "packagemanager", packagemanager, `one of ${managers.join(", ")}`);
    if (mistakes.length > 0) {
        throw new Error(mistakes.join("\n"));
    }
    return {
        typescript: typescript as boolean,
        tsconfig: tsconfig as string | undefined,
        nodeargs: splitWords(nodeargs as string),
        packagemanager: packagemanager as RuntimeOptions["packagemanager"],
    };
}

/**
 * Splits a command line into words as a shell does, without expansion.
 *
 * @throws an error if a quote is not closed.
 */
export function splitWords(line: string): string[] {
    const words: string[] = [];
    // A word is a run of plain, escaped, single-quoted and double-quoted pieces.
    const piece = /\\([\s\S])|'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|([^\s'"\\]+)/y;
    let index = 0;
    while (index < line.length) {
        if (/\s/.test(line.charAt(index))) {
            index += 1;
            continue;
        }
        let word = "";
        while (index < line.length && !/\s/.test(line.charAt(index))) {
            piece.lastIndex = index;
            const match = piece.exec(line);
            if (!match) {
                throw new Error(`runtime option nodeargs has a quote that is not closed: ${line}`);
            }
            const [whole, escaped, single, double, plain] = match;
            word += escaped ?? single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? plain ?? "";
            index += whole.length;
        }
        words.push(word);
    }
    return words;
}
