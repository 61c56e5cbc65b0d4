import { clusterRecord, type RecordedCluster } from "../components/cluster/state-records";

interface ExportedState {
    deployment?: { resources?: { urn: string; type: string; outputs?: { output?: RecordedCluster } }[] };
}

/** What a state says about a cluster. */
export interface ClusterRecord {
    /** Whether the stack's resources, if any, were made in it. In another one, a refresh would find none of them. */
    isMadeHere: boolean;
    /** The resource to replace if an earlier cluster of the same context is recorded. */
    earlier?: string;
}

/**
 * @param exported the state, by `pulumi stack export`
 */
export function recordOf(exported: string, { uid, context }: RecordedCluster): ClusterRecord {
    const { resources = [] } = (JSON.parse(exported) as ExportedState).deployment ?? {};
    const { type, name } = clusterRecord;
    const record = resources.find((resource) => resource.type === type && resource.urn.endsWith(`::${name}`));
    if (!record) return { isMadeHere: true };
    const { output } = record.outputs ?? {};
    const isMadeHere = output?.uid === uid;
    return { isMadeHere, earlier: !isMadeHere && output?.context === context ? record.urn : undefined };
}
