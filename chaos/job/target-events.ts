import { beginningOf, eventType } from "../cluster/events";
import { annotations, experimentOf } from "../cluster/labels";
import { pathOf, resources } from "../cluster/resources";
import { inTurns } from "../async";
import { log, objectApi, post } from "./api";

/** Calls to the API server at a time: few, since the witness's matter more. */
const maxCalls = 4;

/** A pod that is attacked. */
export interface AttackedPod {
    name: string;
    uid: string;
    /** Value of the label of its attack's targets. */
    label: string;
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
     * @param stay whether the pods stay, and so can lose their labels
     */
    async began(pods: readonly AttackedPod[], attack: { what: string; until: number }, stay: boolean): Promise<void> {
        const fresh = pods.filter(({ uid }) => !this.known.has(uid));
        for (const { uid } of fresh) this.known.add(uid);
        await inTurns(fresh, maxCalls, (pod) => this.say(pod, attack, stay).catch(log));
    }

    private async say(
        { name, uid, label }: AttackedPod,
        { what, until }: { what: string; until: number },
        stays: boolean,
    ) {
        const { namespace, run, ending } = this.of;
        if (this.isRefused || ending.aborted) return;
        const event = beginningOf({ namespace, pod: name, uid, run, experiment: experimentOf(label) }, what, until);
        const { status } = await post(pathOf({ resource: eventType, namespace }), event);
        // An earlier process of this Job may have made it.
        if (status >= 300 && status !== 409) {
            this.isRefused ||= status === 403;
            throw new Error(`the Event on Pod ${name} cannot be created: ${status}`);
        }
        if (!stays) return;
        const metadata = { uid, annotations: { [annotations.begun]: run } };
        await objectApi.patch({ resource: resources.pod, namespace, name }, { metadata });
    }
}
