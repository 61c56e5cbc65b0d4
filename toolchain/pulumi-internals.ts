/**
 * The one place that uses what the Pulumi SDK does not export, or overrides what it does.
 *
 * - `isConfigSecret`: the program rejects an agent key that was set without `--secret`. The SDK uses this function in
 *   its own `Config` class and leaves it out of its types.
 * - `resourcesInState`: the program must know what an update will delete. The engine says so, and the SDK does not ask:
 *   `readStackResourceOutputs` in https://github.com/pulumi/pulumi/blob/v3.232.0/pkg/resource/deploy/builtins.go.
 * - `withoutOutputsAfterUpdates`: after each update the Automation API starts the CLI three times to read outputs and
 *   history. That takes 1 s per update, and the programs of cli/ use neither.
 */
import * as pulumi from "@pulumi/pulumi";
import type { Stack } from "@pulumi/pulumi/automation";
import { version } from "@pulumi/pulumi/package.json";
import * as config from "@pulumi/pulumi/runtime/config";

const TESTED_VERSION = "3.232.0";

requireTestedVersion(version);

/** @throws Error for any other version than the one that these uses were tested with */
export function requireTestedVersion(found: string): void {
    if (found === TESTED_VERSION) return;
    throw new Error(
        `toolchain/pulumi-internals.ts was tested with @pulumi/pulumi ${TESTED_VERSION}, and ${found} is installed. ` +
            "Run `npm ci`; or check what that file uses against the new version, then change the version there.",
    );
}

/** Whether a stack's setting, such as `chaos-shop:agent.key`, was set with `--secret`. */
export const { isConfigSecret } = config as unknown as { isConfigSecret: (fullKey: string) => boolean };

/** The stack's resources by their URNs, as the state has them when an update begins. With secrets. */
export async function resourcesInState(): Promise<Record<string, { type: string; outputs: Record<string, unknown> }>> {
    const stackName = [pulumi.getOrganization(), pulumi.getProject(), pulumi.getStack()].join("/");
    const answer: unknown = await pulumi.runtime.invoke("pulumi:pulumi:readStackResourceOutputs", { stackName });
    return (answer as { outputs: Awaited<ReturnType<typeof resourcesInState>> }).outputs;
}

/** Makes the results of a stack's updates empty. Read its outputs with `pulumi stack output`. */
export function withoutOutputsAfterUpdates(stack: Stack): Stack {
    stack.outputs = async () => ({});
    stack.info = async () => undefined;
    return stack;
}
