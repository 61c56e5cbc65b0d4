import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { AttributeExpression } from "../shared/attributes";
import { requireBundled } from "../shared/bundle";
import type { Action } from "./actions/action";
import type { Attack } from "./attacks/attack";
import type { Check } from "./checks/check";

/** An experiment as it is kept: what is done to whom, and what is believed to hold meanwhile. */
export interface SavedExperiment {
    /** What is believed, in words: the sentence that the verdict answers. */
    hypothesis: string;
    /** What is done, all at once; at least one. All targets are in one namespace. */
    attacks: SavedAttack[];
    /** What must hold for the hypothesis to hold; at least one. @default `/products` lists fashion, toys and hot deals */
    checks?: Check[];
    /** What is done meanwhile, one after the other, from when all attacks are proven. @default nothing */
    actions?: Action[];
    /** The variant of the shop that it needs. @default any */
    variant?: "seven";
}

/** An attack, and whom it is for. A pod is hit by one attack only: one chooses among the pods that none before it has chosen. */
export type SavedAttack = Attack & Aim;

export interface Aim {
    /** Attributes of the containers to attack; in the shop's namespace unless they name another. */
    target: AttributeExpression;
    /** Containers affected at most: a number, a percentage of those that match, or all. A stack's `experiment.radius` goes before it. @default 1 */
    radius?: number | `${number}%` | "all";
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
    const mistakes = mistakesIn(saved, name);
    if (mistakes.length === 0) return saved;
    throw new Error(
        `experiments/saved/${name}.ts has ${mistakes.length === 1 ? "a mistake" : `${mistakes.length} mistakes`}:\n${mistakes.map((mistake) => `  ${mistake}`).join("\n")}`,
    );
}

function savedExperiment(name: string): SavedExperiment {
    return (require(join(folder, name)) as { default: SavedExperiment }).default;
}
