import * as pulumi from "@pulumi/pulumi";
import { readConfiguration, type StackConfiguration } from "./read";

/** This stack's configuration, as `readConfiguration` reads it. */
export function stackConfiguration(experiments: readonly string[]): StackConfiguration {
    return readConfiguration(pulumi.runtime.allConfig(), { project: pulumi.getProject(), stack: pulumi.getStack(), experiments });
}
