import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import {
    definitionSchema,
    type ExperimentDefinition,
    describeMistakes,
    mistakesIn,
} from "../chaos/definition/definition";
import { type Lesson, lessons, type Story, storySchema } from "./story";

/** An experiment on the shop, as a file in `saved/`. */
export interface SavedExperiment extends ExperimentDefinition {
    /** The variant of the shop that it needs. @default any */
    variant?: "seven";
    /** What it teaches. @default no verdict is expected */
    story?: Story;
}

export type NamedExperiment = SavedExperiment & { name: string };

export const savedSchema = definitionSchema.extend({
    variant: z.literal("seven").optional(),
    story: storySchema.optional(),
}) satisfies z.ZodType<SavedExperiment>;

const folder = join(__dirname, "saved");

/** The saved experiments: the files in `saved/`. To add one, add a file. */
export function savedExperiments(): NamedExperiment[] {
    return readdirSync(folder)
        .filter((file) => /^[a-z0-9-]+\.ts$/.test(file))
        .map((file) => file.replace(/\.ts$/, ""))
        .sort()
        .map((name) => ({ name, ...savedExperiment(name) }));
}

export interface LessonGroup {
    /** Undefined for those that belong to none. */
    lesson?: Lesson;
    experiments: NamedExperiment[];
}

/**
 * Groups experiments by what they teach, in the order of reading. Those that belong to no lesson come last.
 *
 * @param only these lessons. @default all, and experiments without a lesson
 */
export function groupedByLesson(experiments: readonly NamedExperiment[], only: readonly Lesson[] = []): LessonGroup[] {
    const keys = only.length > 0 ? only : [...(Object.keys(lessons) as Lesson[]), undefined];
    return keys
        .map((lesson) => ({ lesson, experiments: experiments.filter(({ story }) => story?.lesson === lesson) }))
        .filter((group) => group.experiments.length > 0);
}

/**
 * A saved experiment by its name, which `savedExperiments` lists.
 *
 * @throws Error with all mistakes in it
 */
export function validExperiment(name: string): SavedExperiment {
    const saved = savedExperiment(name);
    const mistakes = mistakesIn(saved, name, savedSchema);
    if (mistakes.length === 0) return saved;
    throw new Error(`experiments/saved/${name}.ts has ${describeMistakes(mistakes)}`);
}

function savedExperiment(name: string): SavedExperiment {
    return (require(`./saved/${name}.ts`) as { default: SavedExperiment }).default;
}
