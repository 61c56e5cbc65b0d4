import { ConfigurationError, type Mistake, stateOf } from "../components/configuration/mistakes";
import { experimentSettings, readConfiguration, type StackConfiguration } from "../components/configuration/read";
import type { KnownExperiment } from "../components/configuration/settings";
import { planOnShop } from "../experiments/run";
import { savedExperiments } from "../experiments/saved";
import { remedyOf } from "./command";

const prefix = "chaos-shop:";

/**
 * The configuration that some settings make, without an engine.
 *
 * @param inFile those of the stack's file
 * @param set those of a command line, which come first
 * @param stack its name, for what is named after it
 * @param experiments those that `experiment.name` may name
 * @throws Error with all mistakes, and how to set each otherwise
 */
export function offlineConfiguration(
    inFile: Record<string, string>,
    set: Record<string, string>,
    stack: string,
    experiments: readonly KnownExperiment[],
): StackConfiguration {
    try {
        return read({ ...inFile, ...set }, stack, experiments);
    } catch (error) {
        throw error instanceof ConfigurationError ? new Error(listed(error.mistakes, set, stack)) : error;
    }
}

/**
 * What is wrong with the experiment that some settings make, and what settings of a command line contradict: what the
 * update would say that enables it, and the one that disables it. Other mistakes are left to the update, which knows
 * the stack's secrets.
 *
 * @param inFile the settings of the stack's file
 * @param set those of the command line, which come first
 * @returns all mistakes, and how to set each otherwise. Undefined without one
 */
export function mistakesInExperiment(
    inFile: Record<string, string>,
    set: Record<string, string>,
    stack: string,
): string | undefined {
    try {
        const configuration = read({ ...inFile, ...set, "agent.key": "any-key-at-all" }, stack, savedExperiments());
        planOnShop(experimentSettings(configuration, { name: "any" }));
        return undefined;
    } catch (error) {
        if (!(error instanceof ConfigurationError)) return (error as Error).message;
        const found = error.mistakes.filter(
            ({ key, mend }) =>
                key.startsWith("experiment.") || [key, ...Object.keys(mend)].some((each) => Object.hasOwn(set, each)),
        );
        return found.length === 0 ? undefined : listed(found, set, stack);
    }
}

/** @throws ConfigurationError with all mistakes */
function read(set: Record<string, string>, stack: string, experiments: readonly KnownExperiment[]): StackConfiguration {
    const raw = Object.fromEntries(Object.entries(set).map(([key, value]) => [prefix + key, value]));
    const isSecret = (key: string) => key === `${prefix}agent.key`;
    return readConfiguration(raw, { project: "chaos-shop", stack, experiments, isSecret });
}

const listed = (mistakes: readonly Mistake[], set: Record<string, string>, stack: string) =>
    mistakes.map((mistake) => `${stateOf(mistake)}: ${mistake.reason}; ${remedyOf(mistake, set, stack)}`).join("\n");
