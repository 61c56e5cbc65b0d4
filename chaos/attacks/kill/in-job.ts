import { setTimeout as sleep } from "node:timers/promises";
import { annotations, labels } from "../../cluster/labels";
import { resources } from "../../cluster/resources";
import { inTurns } from "../../async";
import { deploymentOf, type Pod, replicaSetOf } from "../../targets/containers";
import { shuffled } from "../../targets/radius";
import type { BeginInJob, JobContext } from "../job-part";
import { type Candidate, candidateOf, chooseVictims, containersIn, type Killing } from "./victims";

const lookMs = 200;
/** Calls to the API server at a time. */
const maxKills = 16;

/** Deletes pods at an interval, as `kubectl delete pod` does. */
export const killInJob: BeginInJob<Killing> = (killing, context) => {
    void killWhileAllowed(killing, context);
    return {};
};

async function killWhileAllowed(killing: Killing, context: JobContext): Promise<never> {
    const { api, namespace, log } = context;
    // Asked before every kill.
    const mayKill = () => context.mayAct().catch(log);
    let atFirst: number | undefined;
    for (let due = 0; ; await sleep(lookMs)) {
        if (Date.now() < due || !(await mayKill())) continue;
        const matching = await listMatching(killing, context).catch(log);
        // In a large namespace the list takes a moment.
        if (matching === undefined || !(await mayKill())) continue;
        atFirst ??= containersIn(matching);
        const begun = Date.now();
        const victims = chooseVictims(matching, atFirst, killing, shuffled);
        const killed = await inTurns(victims, maxKills, async ({ name, uid }) => {
            const at = Date.now();
            if (!(await api.delete({ resource: resources.pod, namespace, name }, uid).catch(log))) return false;
            context.killed({ at, pod: name, uid });
            return true;
        });
        // While the radius is used up, the next kill waits.
        if (!killed.includes(true)) continue;
        due = begun + killing.intervalMs;
        const those = victims.filter((_, index) => killed[index]);
        await tell(those, killing, context).catch(log);
    }
}

/** The last kills of all attacks, for programs that show what is attacked: a killed pod's label goes with it. */
const lastKilled = new Map<string, string[]>();

async function tell(pods: readonly Candidate[], { effect }: Killing, { noteOnOwnPod }: JobContext): Promise<void> {
    for (const workload of new Set(pods.map((pod) => pod.workload))) {
        const ofWorkload = pods.filter((pod) => pod.workload === workload);
        lastKilled.set(
            workload,
            ofWorkload.map(({ name }) => name),
        );
    }
    await noteOnOwnPod({
        labels: { [labels.kills]: "true" },
        annotations: {
            [annotations.killed]: JSON.stringify(Object.fromEntries(lastKilled)),
            [annotations.effect]: effect,
        },
    });
}

async function listMatching(killing: Killing, { api, namespace, label }: JobContext): Promise<Candidate[]> {
    const deployments = new Map<string, string | undefined>();
    for await (const replicaSet of api.list(resources.replicaSet, namespace))
        deployments.set(replicaSet.metadata!.uid!, deploymentOf(replicaSet));
    const candidates: Candidate[] = [];
    for await (const pod of api.list(resources.pod, namespace) as AsyncIterable<Pod>) {
        const deployment = deployments.get(replicaSetOf(pod)?.uid ?? "");
        const candidate = candidateOf(pod, deployment, { ...killing, label });
        if (candidate) candidates.push(candidate);
    }
    return candidates;
}
