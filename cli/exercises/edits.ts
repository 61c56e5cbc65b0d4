import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Edit {
    file: string;
    /** Lines of the file as it is in the repository: with context, so that they are there once. */
    before: string;
    after: string;
}

/** Whether a text has the lines before an edit, those after it, or neither. */
export type EditState = "original" | "changed" | "unknown";

/** The edits of a unified diff. Hunks need no line numbers: their context finds the place. */
export function editsIn(diff: string): Edit[] {
    return diff.split(/^--- .*\n(?=\+\+\+ )/m).flatMap((part) => {
        const [head = "", ...hunks] = part.split(/^@@.*\n/m);
        const file = /^\+\+\+ (\S+)$/m.exec(head)?.[1] ?? "";
        return hunks.map((hunk) => {
            const lines = hunk.replace(/\n$/, "").split("\n");
            const without = (sign: string) => lines.filter((line) => !line.startsWith(sign));
            const textOf = (kept: string[]) => kept.map((line) => line.slice(1)).join("\n");
            return { file, before: textOf(without("+")), after: textOf(without("-")) };
        });
    });
}

/** Lines that occur more than once are unknown: it is not clear which are meant. */
export function stateOf({ before, after }: Edit, text: string): EditState {
    const [original, changed] = [occurrences(before, text), occurrences(after, text)];
    if (original + changed !== 1) return "unknown";
    return original === 1 ? "original" : "changed";
}

/** How often a text has these lines. Those that follow each other share a line break. */
function occurrences(lines: string, text: string): number {
    const [wanted, within] = [`\n${lines}\n`, `\n${text}`];
    let count = 0;
    for (let at = within.indexOf(wanted); at >= 0; at = within.indexOf(wanted, at + 1)) count++;
    return count;
}

/** The source files below a folder, as far as edits concern them. */
export class Sources {
    constructor(private readonly folder: string) {}

    /** A mistake for each file that has neither the lines before an edit nor those after it. */
    mistakes(edits: readonly Edit[]): string[] {
        const unknown = edits.filter((edit) => this.stateOf(edit) === "unknown").map(({ file }) => file);
        return [...new Set(unknown)].map(
            (file) =>
                `${file} is neither as in the repository nor as an exercise changes it; ` +
                `keep a copy if you need it, then: git checkout ${file}`,
        );
    }

    apply(edits: readonly Edit[]): void {
        for (const edit of edits)
            if (this.stateOf(edit) === "original") this.replace(edit.file, edit.before, edit.after);
    }

    /** Restores what the repository has. @returns the files that were changed */
    revert(edits: readonly Edit[]): string[] {
        const changed = edits.filter((edit) => this.stateOf(edit) === "changed");
        for (const { file, before, after } of changed) this.replace(file, after, before);
        return [...new Set(changed.map(({ file }) => file))];
    }

    private stateOf(edit: Edit): EditState {
        const path = join(this.folder, edit.file);
        return existsSync(path) ? stateOf(edit, readFileSync(path, "utf8")) : "unknown";
    }

    private replace(file: string, from: string, to: string): void {
        const path = join(this.folder, file);
        // A function, since a text could contain patterns such as `$&`.
        writeFileSync(path, `\n${readFileSync(path, "utf8")}`.replace(`\n${from}\n`, () => `\n${to}\n`).slice(1));
    }
}
