import { setTimeout as sleep } from "node:timers/promises";
import { annotations, labels } from "../cluster/labels";
import { deploymentOf, type Pod, type ReplicaSet, replicaSetOf } from "../targets/containers";
import { shuffled } from "../targets/radius";
import { listed, log, noteOnOwnPod, remove } from "./api";
import { inTurns } from "../async";
import type { JobLog } from "./job-log";
import type { Killing, LastKilled } from "./protocol";
import { type Candidate, candidateOf, chooseVictims, containersIn } from "./victims";

const lookMs = 200;
/** Calls to the API server at a time. */
const maxKills = 16;

/**
 * Deletes pods at an interval, as `kubectl delete pod` does.
 *
 * @param mayKill whether the attack has begun and is not over; asked before every kill
 */
export async function killWhile(
    mayKill: () => Promise<boolean>,
    namespace: string,
    killing: Killing,
    jobLog: JobLog,
): Promise<never> {
    let atFirst: number | undefined;
    for (let due = 0; ; await sleep(lookMs)) {
        if (Date.now() < due || !(await mayKill().catch(log))) continue;
        const matching = await listMatching(namespace, killing).catch(log);
        // In a large namespace the list takes a moment.
        if (matching === undefined || !(await mayKill().catch(log))) continue;
        atFirst ??= containersIn(matching);
        const begun = Date.now();
        const victims = chooseVictims(matching, atFirst, killing, shuffled);
        const killed = await inTurns(victims, maxKills, async (pod) => {
            const at = Date.now();
            if (!(await kill(namespace, pod).catch(log))) return false;
            jobLog.killed({ at, killed: { pod: pod.name, uid: pod.uid, label: killing.label } });
            return true;
        });
        // While the radius is used up, the next kill waits.
        if (!killed.includes(true)) continue;
        due = begun + killing.intervalMs;
        await tell(
            namespace,
            victims.filter((_, index) => killed[index]),
        ).catch(log);
    }
}

/** The last kills of all attacks, for programs that show what is attacked: a killed pod's label goes with it. */
const lastKilled = new Map<string, string[]>();

async function tell(namespace: string, pods: readonly Candidate[]): Promise<void> {
    for (const workload of new Set(pods.map((pod) => pod.workload))) {
        const ofWorkload = pods.filter((pod) => pod.workload === workload);
        lastKilled.set(
            workload,
            ofWorkload.map(({ name }) => name),
        );
    }
    const told: LastKilled = Object.fromEntries(lastKilled);
    await noteOnOwnPod(namespace, {
        labels: { [labels.kills]: "true" },
        annotations: { [annotations.killed]: JSON.stringify(told) },
    });
}

async function listMatching(namespace: string, killing: Killing): Promise<Candidate[]> {
    const deployments = new Map<string, string | undefined>();
    const replicaSets = `/apis/apps/v1/namespaces/${namespace}/replicasets`;
    for await (const replicaSet of listed<ReplicaSet>(replicaSets, "ReplicaSets cannot be listed"))
        deployments.set(replicaSet.metadata!.uid!, deploymentOf(replicaSet));
    const candidates: Candidate[] = [];
    for await (const pod of listed<Pod>(`/api/v1/namespaces/${namespace}/pods`, "pods cannot be listed")) {
        const candidate = candidateOf(pod, deployments.get(replicaSetOf(pod)?.uid ?? ""), killing);
        if (candidate) candidates.push(candidate);
    }
    return candidates;
}

/** Deletes a pod. The API server rejects it if another pod has taken the name. */
async function kill(namespace: string, { name, uid }: Candidate): Promise<true> {
    const { status } = await remove(`/api/v1/namespaces/${namespace}/pods/${name}`, { preconditions: { uid } });
    if (status >= 300) throw new Error(`${name} cannot be deleted: ${status}`);
    return true;
}
