import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { join } from "node:path";
import { runFromInput } from "../../../chaos/pods/packed";
import { packedBundle } from "../../../toolchain/bundle";
import type { StackConfiguration } from "../../configuration/read";
import type { StackCluster } from "../cluster";
import { type GuardedObject, type GuardedStack, guardedVariable, inUpdate } from "./refusal";

/** What the state keeps about the stack itself. Without it, an update could not go on after a destroy that stopped. */
const records = ["identity", "cluster"];

/**
 * Has `pulumi destroy` stop before it deletes anything in a cluster, or in a namespace, that is not the stack's by now:
 * it does not run the program, and deletes objects by their names in the cluster that the context leads to.
 *
 * What depends on everything else is deleted first, alone, and if that fails nothing else is. In an update it comes
 * after everything else and before all deletions: so an update that would delete a namespace of somebody else stops
 * there.
 *
 * Once it has let a destroy begin, it is gone: only Pulumi's hooks could stand before each deletion, and with them no
 * destroy works that does not run the program.
 *
 * @param everything that the stack has in the cluster
 * @param also what of that is outside of its namespaces, and the namespace that the experiment attacks
 */
export function guardDestroy(
    { namespace, agent }: Pick<StackConfiguration, "namespace" | "agent">,
    { uid, context, identity }: Pick<StackCluster, "uid" | "context" | "identity">,
    everything: (pulumi.Resource | undefined)[],
    also: { objects?: readonly GuardedObject[]; attacked?: string } = {},
): void {
    const stack = pulumi.getStack();
    const namespaces = [namespace, ...(agent ? [agent.namespace] : [])];
    const guarded: pulumi.Input<GuardedStack> = identity.apply((known) => ({
        ...{ stack, identity: known, uid, context: context.name, namespaces },
        ...also,
    }));
    const urnOf = (name: string) => `urn:pulumi:${stack}::${pulumi.getProject()}::pulumi:index:Stash::${name}`;
    new command.local.Command(
        "destroy-guard",
        {
            create: `${runFromInput} ${inUpdate}`,
            update: `${runFromInput} ${inUpdate}`,
            delete: runFromInput,
            stdin: packedBundle(join(__dirname, "guard-program.ts")),
            environment: { [guardedVariable]: pulumi.jsonStringify(guarded) },
            logging: "stderr",
        },
        {
            dependsOn: [
                ...everything.filter((resource) => resource !== undefined),
                ...records.map((name) => new pulumi.DependencyResource(urnOf(name))),
            ],
        },
    );
}
