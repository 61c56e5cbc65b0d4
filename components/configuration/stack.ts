import * as pulumi from "@pulumi/pulumi";
import * as runtime from "@pulumi/pulumi/runtime/config";
import { type KnownExperiment, readConfiguration, type StackConfiguration } from "./read";

/** In the SDK for its own `Config` class, and left out of its types. */
const { isConfigSecret } = runtime as unknown as { isConfigSecret(fullKey: string): boolean };

/**
 * This stack's configuration, as `readConfiguration` reads it.
 *
 * @param experiments the saved experiments
 */
export function stackConfiguration(experiments: readonly KnownExperiment[]): StackConfiguration {
    const around = { project: pulumi.getProject(), stack: pulumi.getStack(), experiments, isSecret: isConfigSecret };
    return readConfiguration(pulumi.runtime.allConfig(), around);
}
