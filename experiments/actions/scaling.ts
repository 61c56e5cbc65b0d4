import { annotations } from "../../shared/labels";

/** A Deployment as the API server describes it, as far as scaling looks at it. */
export interface Scalable {
    metadata?: { resourceVersion?: string; annotations?: Record<string, string> };
    spec?: { replicas?: number };
}

/** What an experiment notes on a Deployment that it has scaled, so that whoever undoes it needs nothing else. */
interface Scaled {
    /** How many pods it had before the experiment. */
    from: number;
    /** How many the experiment gave it. */
    to: number;
}

/** The merge patch that scales a Deployment, and notes on it what it was. */
export function scaling(deployment: Scalable, replicas: number): object {
    const from = scaledOf(deployment)?.from ?? deployment.spec!.replicas ?? 1;
    return patch(deployment, JSON.stringify({ from, to: replicas } satisfies Scaled), replicas);
}

/**
 * The merge patch that gives a Deployment its number of pods back; one that somebody else has scaled meanwhile keeps
 * that. Undefined where no experiment has scaled it.
 */
export function restoring(deployment: Scalable): object | undefined {
    const scaled = scaledOf(deployment);
    return scaled && patch(deployment, null, deployment.spec!.replicas === scaled.to ? scaled.from : undefined);
}

function scaledOf({ metadata }: Scalable): Scaled | undefined {
    const note = metadata?.annotations?.[annotations.scaled];
    return note === undefined ? undefined : (JSON.parse(note) as Scaled);
}

function patch({ metadata }: Scalable, note: string | null, replicas: number | undefined): object {
    return {
        metadata: { resourceVersion: metadata!.resourceVersion, annotations: { [annotations.scaled]: note } },
        ...(replicas !== undefined && { spec: { replicas } }),
    };
}
