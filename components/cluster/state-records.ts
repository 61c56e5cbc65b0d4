import * as pulumi from "@pulumi/pulumi";
import { identityIn, ifKnown, notKept, remember } from "../../chaos/face/stash";
import { pulumiCommand, setCommand } from "../pulumi-command";

export interface RecordedCluster {
    /** Of the namespace kube-system, which lives as long as its cluster. */
    uid: string;
    context: string;
}

const clusterRecord = { type: "pulumi:index:Stash", name: "cluster" } as const;

/**
 * What a state, by `pulumi stack export`, says about a cluster: whether the stack's resources, if any, were made in it
 * (in another one, a refresh would find none of them), and the resource to replace if an earlier cluster of the same
 * context is recorded.
 */
export function recordIn(exported: string, { uid, context }: RecordedCluster) {
    const { resources = [] } = (JSON.parse(exported) as ExportedState).deployment ?? {};
    const { type, name } = clusterRecord;
    const record = resources.find((resource) => resource.type === type && resource.urn.endsWith(`::${name}`));
    if (!record) return { isMadeHere: true, earlier: undefined };
    const { output } = record.outputs ?? {};
    // An update that was to move the stack may have failed after it noted that, and before it moved anything.
    const provider = resources.find((resource) => resource.type === "pulumi:providers:kubernetes");
    const isMadeHere = [output?.uid, provider?.outputs?.clusterIdentifier ?? uid].every((one) => one === uid);
    return { isMadeHere, earlier: !isMadeHere && output?.context === context ? record.urn : undefined };
}

/** Of the record, or of the provider. */
interface ExportedOutputs {
    output?: RecordedCluster;
    clusterIdentifier?: string;
}

interface ExportedState {
    deployment?: { resources?: { urn: string; type: string; outputs?: ExportedOutputs }[] };
}

/**
 * The identity of the stack: 16 hexadecimal digits, which the state keeps. Stacks in two backends may have the same
 * name, and they share their configuration through git, but not their state. A stack that is destroyed and made again
 * has another. The first preview does not know it.
 */
export const stackIdentity = (): pulumi.Output<string> => identityIn("identity");

/**
 * What is known of a stack's identity. Nothing bears that of a stack that is new, and then it is empty.
 *
 * @throws Error if an update with `--target` leaves it out
 */
export async function knownIdentity(identity: pulumi.Output<string>): Promise<string> {
    const [known] = await ifKnown(identity);
    if (known === undefined && !pulumi.runtime.isDryRun()) throw notKept("identity");
    return known ?? "";
}

/**
 * Checks that the stack's state was made in this cluster, and records it in the state of a new stack. Call it before
 * the first resource in the cluster.
 *
 * Resources of a state that was made elsewhere would count as existing: the update would create nothing here, and a
 * refresh would forget what is there.
 *
 * @throws Error that names both contexts and the command that moves the stack
 */
export async function requireSameCluster(cluster: RecordedCluster): Promise<void> {
    const { first, urn } = await remember(clusterRecord.name, cluster);
    if (first.uid !== cluster.uid) throw new Error(otherCluster(first, cluster, urn));
}

function otherCluster(first: RecordedCluster, { uid, context }: RecordedCluster, urn: string): string {
    const move = pulumiCommand(["up", "--replace", urn]);
    const uids = `(uids of kube-system: ${first.uid} and ${uid}). Nothing was touched.\n`;
    if (first.context === context)
        return (
            `this stack was made in an earlier cluster of context "${context}", which now leads to another ${uids}` +
            `  If it was recreated: ${move}`
        );
    return (
        `this stack was made in the cluster of context "${first.context}", and that of context "${context}" is ` +
        `another ${uids}` +
        `  To go on there: ${setCommand("kube.context", first.context)}\n` +
        `  For a shop here, too: ${pulumiCommand(["stack", "init", "NAME"], "")}\n` +
        `  To delete the shop there and create it here: ${move}\n` +
        `  If that cluster no longer exists: PULUMI_K8S_DELETE_UNREACHABLE=true ${move}`
    );
}
