/** The Pulumi release: of the CLI, and of `@pulumi/pulumi` in package.json. */
export const PULUMI_CLI_VERSION = "3.232.0";

/** The command provider, as `@pulumi/command` in package.json pins it. */
export const COMMAND_PROVIDER_VERSION = "1.2.1";

/** The Kubernetes provider, as `@pulumi/kubernetes` in package.json pins it. */
export const KUBERNETES_PROVIDER_VERSION = "4.25.0";
