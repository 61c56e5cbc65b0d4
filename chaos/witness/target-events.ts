import { beginningOf } from "../cluster/events";
import { annotations, experimentOf } from "../cluster/labels";
import { otherResources, pathOf, resources } from "../cluster/resources";
import { inTurns } from "../values/async";
import { log, objectApi, post } from "./api";

/** Calls to the API server at a time: few, since the witness's matter more. */
const maxCalls = 4;

/** A pod that is attacked. */
export interface AttackedPod {
    name: string;
    uid: string;
    /** Value of the label of its attack's targets. */
    label: string;
    /** The version that had that label. Absent if the pod is killed, and so loses no label. */
    resourceVersion?: string;
    /** The run whose attack has begun on it, as an earlier process of this Job has noted. */
    begunIn?: string;
    /** Number of the policy that combines its attack with those of others: see `labels.combined`. */
    combined?: string;
}

/**
 * Says on the attacked pods when their attack begins, for who asks `kubectl describe pod` why a pod is cut off. Who
 * takes their labels from them says that it has ended. The run does not depend on it: what fails is not tried again,
 * and nothing is once the API server has refused it.
 */
export class TargetEvents {
    /** By uid. */
    private readonly known = new Set<string>();
    private isRefused = false;

    constructor(private readonly of: { namespace: string; run: string; ending: AbortSignal }) {}

    /**
     * Never rejects, and is not waited for.
     *
     * @param pods those that are not known yet are said to be attacked
     * @param attack what it does to them, and until when at the latest, in milliseconds since the epoch
     */
    async began(pods: readonly AttackedPod[], attack: { what: string; until: number }): Promise<void> {
        const fresh = pods.filter(({ uid }) => !this.known.has(uid));
        for (const { uid } of fresh) this.known.add(uid);
        await inTurns(fresh, maxCalls, (pod) => this.say(pod, attack).catch(log));
    }

    private async say(
        { name, uid, label, resourceVersion }: AttackedPod,
        { what, until }: { what: string; until: number },
    ) {
        const { namespace, run, ending } = this.of;
        if (this.isRefused || ending.aborted) return;
        const event = beginningOf({ namespace, pod: name, uid, run, experiment: experimentOf(label) }, what, until);
        if (resourceVersion !== undefined) {
            // First: by it, who takes the label says that the attack has ended. Nobody has taken it since it was seen.
            const metadata = { uid, resourceVersion, annotations: { [annotations.begun]: run } };
            const noting = objectApi.patch({ resource: resources.pod, namespace, name }, { metadata });
            const noted = await noting.catch((error: unknown) => {
                if ((error as { code?: unknown }).code !== 409) throw error;
                // Somebody has changed the pod: the next look shows whether it still has the label.
                this.known.delete(uid);
            });
            if (noted === undefined) return;
        }
        const { status } = await post(pathOf({ resource: otherResources.event, namespace }), event);
        // An earlier process of this Job may have made it.
        if (status >= 300 && status !== 409) {
            this.isRefused ||= status === 403;
            throw new Error(`the Event on Pod ${name} cannot be created: ${status}`);
        }
    }
}
