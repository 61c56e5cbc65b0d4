import { experimentSettings } from "../components/configuration/experiment";
import { ConfigurationError, type Mistake } from "../components/configuration/mistakes";
import { readConfiguration, type StackConfiguration } from "../components/configuration/read";
import type { KnownExperiment } from "../components/configuration/settings";
import { planOnShop } from "../experiments/run";
import { savedExperiments } from "../experiments/saved";

const prefix = "chaos-shop:";

/**
 * The configuration that some settings make, without an engine.
 *
 * @param stack its name, for what is named after it
 * @param experiments those that `experiment.name` may name
 * @throws Error with all mistakes, and how to set each otherwise
 */
export function offlineConfiguration(
    set: Record<string, string>,
    stack: string,
    experiments: readonly KnownExperiment[],
): StackConfiguration {
    try {
        return read(set, stack, experiments);
    } catch (error) {
        throw error instanceof ConfigurationError ? new Error(listed(error.mistakes)) : error;
    }
}

/**
 * What is wrong with the experiment that some settings make: what the update would say that enables it, and the one
 * that disables it. Other mistakes are left to the update, which knows the stack's secrets.
 *
 * @returns all mistakes, and how to set each otherwise. Undefined without one
 */
export function mistakesInExperiment(set: Record<string, string>, stack: string): string | undefined {
    try {
        const configuration = read({ ...set, "agent.key": "any-key-at-all" }, stack, savedExperiments());
        planOnShop(experimentSettings(configuration, { name: "any" }));
        return undefined;
    } catch (error) {
        if (!(error instanceof ConfigurationError)) return (error as Error).message;
        const ofExperiment = error.mistakes.filter(({ key }) => key.startsWith("experiment."));
        return ofExperiment.length === 0 ? undefined : listed(ofExperiment);
    }
}

/** @throws ConfigurationError with all mistakes */
function read(set: Record<string, string>, stack: string, experiments: readonly KnownExperiment[]): StackConfiguration {
    const raw = Object.fromEntries(Object.entries(set).map(([key, value]) => [prefix + key, value]));
    const isSecret = (key: string) => key === `${prefix}agent.key`;
    return readConfiguration(raw, { project: "chaos-shop", stack, experiments, isSecret });
}

const listed = (mistakes: readonly Mistake[]) =>
    mistakes
        .map(({ key, value, reason }) => `${key} is "${value}": ${reason}; set it with --set ${key}=VALUE`)
        .join("\n");
