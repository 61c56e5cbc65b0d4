import { parseArgs } from "node:util";
import { disturbing } from "./exercises/beginning";
import { settingsIn } from "./settings-option";
import type { Parsed } from "./program";

export interface WorkshopOptions {
    /** What is done with the exercises. */
    does: "list" | "prepare" | "check";
    /** Numbers of exercises: one to prepare, or those to check, in order. */
    numbers: number[];
    /** For all updates, in addition to the stack's. */
    settings: Record<string, string>;
    stack: string;
}

/**
 * Parses the arguments of `npm run workshop`.
 *
 * @param countExercises how many there are
 */
export function workshopOptions(args: string[], countExercises: () => number): Parsed<WorkshopOptions> {
    try {
        const { values, positionals } = parseArgs({
            args,
            allowPositionals: true,
            options: {
                check: { type: "boolean", default: false },
                set: { type: "string", multiple: true, default: [] },
                stack: { type: "string", default: "local" },
                help: { type: "boolean", short: "h" },
            },
        });
        if (values.help) return { help: true };
        const count = countExercises();
        const { check, set, stack } = values;
        const mistakes = mistakesInNumbers(positionals, { check, count });
        let settings: Record<string, string> = {};
        try {
            settings = settingsIn(set);
        } catch (error) {
            mistakes.push((error as Error).message);
        }
        for (const key of disturbing(settings)) mistakes.push(`--set ${key} would make another exercise: omit it`);
        if (mistakes.length > 0) return { mistake: mistakes.join("\n") };
        const named = [...new Set(positionals.map(Number))].sort((a, b) => a - b);
        const all = Array.from({ length: count }, (_, index) => index + 1);
        const does = check ? "check" : named.length > 0 ? "prepare" : "list";
        return { does, numbers: named.length > 0 ? named : all, settings, stack };
    } catch (error) {
        return { mistake: (error as Error).message };
    }
}

function mistakesInNumbers(numbers: readonly string[], { check, count }: { check: boolean; count: number }): string[] {
    const unknown = numbers.filter((text) => !/^\d+$/.test(text) || Number(text) < 1 || Number(text) > count);
    return [
        ...unknown.map((text) => `there is no exercise "${text}"; allowed: 1 to ${count}`),
        ...(numbers.length > 1 && !check ? ["name one exercise, or check several: npm run workshop -- --check"] : []),
    ];
}
