import { ConfigurationError } from "../components/configuration/mistakes";
import { readConfiguration, type StackConfiguration } from "../components/configuration/read";
import type { KnownExperiment } from "../components/configuration/settings";

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
    const raw = Object.fromEntries(Object.entries(set).map(([key, value]) => [prefix + key, value]));
    const isSecret = (key: string) => key === `${prefix}agent.key`;
    try {
        return readConfiguration(raw, { project: "chaos-shop", stack, experiments, isSecret });
    } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        throw new Error(
            error.mistakes
                .map(({ key, value, reason }) => `${key} is "${value}": ${reason}; set it with --set ${key}=VALUE`)
                .join("\n"),
        );
    }
}
