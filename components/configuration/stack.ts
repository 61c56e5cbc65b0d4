import * as pulumi from "@pulumi/pulumi";
import { isConfigSecret } from "../../toolchain/pulumi-internals";
import { readConfiguration, type StackConfiguration } from "./read";
import type { KnownExperiment } from "./settings";

/**
 * This stack's configuration.
 *
 * @param experiments the saved experiments
 * @throws ConfigurationError with every mistake in it
 */
export function stackConfiguration(experiments: readonly KnownExperiment[]): StackConfiguration {
    const around = { project: pulumi.getProject(), stack: pulumi.getStack(), experiments, isSecret: isConfigSecret };
    return readConfiguration(pulumi.runtime.allConfig(), around);
}
