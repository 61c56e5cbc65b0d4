import { annotations, experimentOf, targetLabelOf } from "./labels";
import type { KubeObject } from "./resources";

interface NotedPod {
    namespace: string;
    pod: string;
    uid: string;
    run: string;
    experiment: string;
}

/** The Event which says that an attack has begun. @param what of `describe` @param until its latest end, in ms */
export const beginningOf = (on: NotedPod, what: string, until: number) =>
    eventOn(on, "began", {
        type: "Warning",
        reason: "ChaosAttackBegan",
        message:
            `Chaos experiment ${on.experiment}: this pod is ${what}, ` +
            `until ${new Date(until).toISOString().replace(/\.\d+/, "")} at the latest`,
    });

/** The Event which says that an attack is over. Undefined if none said that it began. @param pod before unlabeling */
export function endingOf(pod: KubeObject | undefined): ReturnType<typeof eventOn> | undefined {
    const { name, namespace, uid, annotations: { [annotations.begun]: run } = {} } = pod?.metadata ?? {};
    if (run === undefined) return undefined;
    const experiment = experimentOf(targetLabelOf(pod as object) ?? `${run}.`);
    return eventOn({ namespace: namespace!, pod: name!, uid: uid!, run, experiment }, "ended", {
        type: "Normal",
        reason: "ChaosAttackEnded",
        message: `Chaos experiment ${experiment} no longer attacks this pod`,
    });
}

/**
 * An Event as `kubectl describe pod` finds it, by the pod's name and uid. Its name lets it be made once, whoever does.
 * https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
 */
function eventOn(
    { namespace, pod, uid, run }: NotedPod,
    moment: string,
    said: { type: "Normal" | "Warning"; reason: string; message: string },
) {
    const at = new Date();
    return {
        metadata: { name: `${run}.${uid}.${moment}`, namespace },
        involvedObject: { apiVersion: "v1", kind: "Pod", namespace, name: pod, uid },
        ...said,
        source: { component: "chaos-experiments" },
        count: 1,
        firstTimestamp: at,
        lastTimestamp: at,
    };
}
