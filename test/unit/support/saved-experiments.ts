import { register } from "tsx/cjs/api";
import { type NamedExperiment, savedExperiments } from "../../../experiments/saved";

/** The saved experiments. They are TypeScript, which the programs of `npm run` load by tsx. */
export function loadSavedExperiments(): NamedExperiment[] {
    const unregister = register();
    try {
        return savedExperiments();
    } finally {
        unregister();
    }
}
