import { disturbing } from "./exercises/preparation";
import { settingsIn } from "./command";
import { workshopProgram } from "./programs";

export interface WorkshopOptions {
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
 * @throws Error with all mistakes in them
 */
export function workshopOptions(args: string[], countExercises: () => number): WorkshopOptions {
    const { check = false, set, stack } = workshopProgram.read<{ check?: true; set: string[]; stack: string }>(args);
    const given = workshopProgram.args;
    const count = countExercises();
    const mistakes = mistakesInNumbers(given, { check, count });
    let settings: Record<string, string> = {};
    try {
        settings = settingsIn(set);
    } catch (error) {
        mistakes.push((error as Error).message);
    }
    for (const key of disturbing(settings)) mistakes.push(`--set ${key} would make another exercise: omit it`);
    if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
    const named = [...new Set(given.map(Number))].sort((a, b) => a - b);
    const all = Array.from({ length: count }, (_, index) => index + 1);
    const does = check ? "check" : named.length > 0 ? "prepare" : "list";
    return { does, numbers: named.length > 0 ? named : all, settings, stack };
}

function mistakesInNumbers(numbers: readonly string[], { check, count }: { check: boolean; count: number }): string[] {
    const unknown = numbers.filter((text) => !/^\d+$/.test(text) || Number(text) < 1 || Number(text) > count);
    return [
        ...unknown.map((text) => `there is no exercise "${text}"; allowed: 1 to ${count}`),
        ...(numbers.length > 1 && !check ? ["name one exercise, or check several: npm run workshop -- --check"] : []),
    ];
}
