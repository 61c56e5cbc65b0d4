import { annotations } from "../cluster/labels";

/** The part of a Deployment that scaling reads. */
export interface Scalable {
    metadata?: { resourceVersion?: string; annotations?: Record<string, string> };
    spec?: { replicas?: number };
}

/** The replicas that a Deployment had before an experiment, and what the experiment set: all that restoring needs. */
interface ScaleNote {
    from: number;
    to: number;
}

/** The merge patch that scales a Deployment and notes its earlier number of replicas. */
export function scaling(deployment: Scalable, replicas: number): object {
    const from = noteOf(deployment)?.from ?? deployment.spec!.replicas ?? 1;
    return patch(deployment, JSON.stringify({ from, to: replicas } satisfies ScaleNote), replicas);
}

/**
 * The merge patch that restores a Deployment's number of replicas, unless somebody else has scaled it since. Undefined
 * if no experiment has scaled it.
 */
export function restoring(deployment: Scalable): object | undefined {
    const note = noteOf(deployment);
    return note && patch(deployment, null, deployment.spec!.replicas === note.to ? note.from : undefined);
}

function noteOf({ metadata }: Scalable): ScaleNote | undefined {
    const note = metadata?.annotations?.[annotations.scaled];
    return note === undefined ? undefined : (JSON.parse(note) as ScaleNote);
}

function patch({ metadata }: Scalable, note: string | null, replicas: number | undefined): object {
    return {
        metadata: { resourceVersion: metadata!.resourceVersion, annotations: { [annotations.scaled]: note } },
        ...(replicas !== undefined && { spec: { replicas } }),
    };
}
