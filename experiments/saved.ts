import { readdirSync } from "node:fs";
import { join } from "node:path";
import { requireBundled } from "../shared/bundle";
import type { Attack } from "./attacks/attack";

/** An experiment as it is kept: what is done to whom, and what is believed to hold meanwhile. */
export interface SavedExperiment {
    /** What is believed, in words: the sentence that the verdict answers. */
    hypothesis: string;
    /** Attributes of the containers to attack; in the shop's namespace unless they name another. */
    target: string;
    /** What is done to them. @default a blackhole, both ways */
    attack?: Attack;
    /** The variant of the shop that it needs. @default any */
    variant?: "seven";
}

const folder = join(__dirname, "saved");

/** The saved experiments: the files in `saved/`, so that adding one needs no change elsewhere. */
export function savedExperiments(): (SavedExperiment & { name: string })[] {
    return readdirSync(folder)
        .filter((file) => /^[a-z0-9-]+\.ts$/.test(file))
        .map((file) => file.replace(/\.ts$/, ""))
        .sort()
        .map((name) => ({ name, ...savedExperiment(name) }));
}

/**
 * A saved experiment by its name, which `savedExperiments` lists.
 *
 * @throws Error with all that is wrong with it: nobody need have checked its types
 */
export function validExperiment(name: string): SavedExperiment {
    const saved = savedExperiment(name);
    // Bundled, since of the validation's modules there are too many to read them one by one at each start.
    const { mistakesIn } = requireBundled(join(__dirname, "validate.ts")) as typeof import("./validate");
    const mistakes = mistakesIn(saved);
    if (mistakes.length === 0) return saved;
    throw new Error(`experiments/saved/${name}.ts has ${mistakes.length === 1 ? "a mistake" : `${mistakes.length} mistakes`}:\n${mistakes.map((mistake) => `  ${mistake}`).join("\n")}`);
}

function savedExperiment(name: string): SavedExperiment {
    return (require(join(folder, name)) as { default: SavedExperiment }).default;
}
