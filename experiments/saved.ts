import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import * as z from "zod";
import { definitionSchema, type ExperimentDefinition, listed, mistakesIn } from "../chaos/definition/definition";
import { type Story, storySchema } from "./story";

/** An experiment on the shop, as a file in `saved/`. */
export interface SavedExperiment extends ExperimentDefinition {
    /** The variant of the shop that it needs. @default any */
    variant?: "seven";
    /** What it teaches. @default nothing: no verdict is expected */
    story?: Story;
}

export type NamedExperiment = SavedExperiment & { name: string };

export const savedSchema = definitionSchema.extend({
    variant: z.literal("seven").optional(),
    story: storySchema.optional(),
}) satisfies z.ZodType<SavedExperiment>;

const folder = join(__dirname, "saved");
const load = createRequire(__filename);

/** The saved experiments: the files in `saved/`. To add one, add a file. */
export function savedExperiments(): NamedExperiment[] {
    return readdirSync(folder)
        .filter((file) => /^[a-z0-9-]+\.ts$/.test(file))
        .map((file) => file.replace(/\.ts$/, ""))
        .sort()
        .map((name) => ({ name, ...savedExperiment(name) }));
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
    throw new Error(`experiments/saved/${name}.ts has ${listed(mistakes)}`);
}

function savedExperiment(name: string): SavedExperiment {
    return (load(join(folder, name)) as { default: SavedExperiment }).default;
}
