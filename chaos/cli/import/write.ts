import { onOneLine } from "../../values/quoted";
import type { Imported } from "./import";

/** A variable, different for each name, and never a word of TypeScript such as `delete`. */
const variableOf = (name: string): string =>
    `${name.replace(/^(?=\d)|-(?=\d)/g, "_").replace(/-(.)/g, (_, next: string) => next.toUpperCase())}Experiment`;

/** Texts of the file may have what a terminal obeys or does not show: in a string of TypeScript it is escaped. */
const escaped = (json: string): string =>
    json.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) => `\\u{${found.codePointAt(0)!.toString(16)}}`);

/** A program's part with an experiment's arguments, for each experiment of a file. */
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
