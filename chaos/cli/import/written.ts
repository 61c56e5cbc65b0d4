import type { DefinedExperiment } from "../../definition/arguments";
import { onOneLine } from "../../values/quoted";
import type { Remark } from "./fields";

export interface Imported {
    name: string;
    args: DefinedExperiment;
    differences: Remark[];
}

/** A different variable for each name, and never a reserved word of TypeScript such as `delete`. */
const variableOf = (name: string): string =>
    `${name.replace(/^(?=\d)|-(?=\d)/g, "_").replace(/-(.)/g, (_, next: string) => next.toUpperCase())}Experiment`;

/** Escapes what a terminal would obey or not show, as strings of TypeScript can. */
const escaped = (json: string): string =>
    json.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) => `\\u{${found.codePointAt(0)!.toString(16)}}`);

/** The part of a program that has the arguments of a file's experiments. */
export function writtenAs(experiments: readonly Imported[], file: string): string {
    const constants = experiments.map(({ name, args, differences }) => {
        const variable = variableOf(name);
        const remarks = differences.map(({ path, reason }) => `// - ${path}: ${reason}`);
        const head = remarks.length > 0 ? ["// Differs from the file:", ...remarks] : [];
        const keysUnquoted = escaped(JSON.stringify(args, null, 4)).replace(/^( *)"([A-Za-z_]\w*)": /gm, "$1$2: ");
        return [
            `// new Experiment(${JSON.stringify(name)}, { enabled: …, ...${variable} });`,
            ...head,
            `export const ${variable}: DefinedExperiment = ${keysUnquoted};`,
        ].join("\n");
    });
    const from = `// Imported from ${onOneLine(file)}.`;
    return `${from}\nimport type { DefinedExperiment } from "pulumi-chaos-experiments";\n\n${constants.join("\n\n")}\n`;
}
