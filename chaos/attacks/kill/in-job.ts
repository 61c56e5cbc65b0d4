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
/** A kill that is late by less shows nothing: the API server may be busy, or restart. */
const maxLateMs = 5_000;

/** Deletes pods at an interval, as `kubectl delete pod` does. */
export const killInJob: BeginInJob<Killing> = (killing, context) => {
    void killWhileAllowed(killing, context);
    return {};
};

async function killWhileAllowed(killing: Killing, context: JobContext): Promise<never> {
    const killer = new Killer(killing, context);
    const lateness = new Lateness(context);
    for (let due = 0; ; await sleep(lookMs)) {
        if (Date.now() < due) continue;
        const begun = Date.now();
        const made = await killer.killDue().catch((error: unknown) => {
            context.log(error);
            lateness.failed(begun, error);
        });
        if (made === undefined) continue;
        lateness.over();
        if (made) due = begun + killing.intervalMs;
    }
}

/** Reports a kill that is due, and cannot be made for a time. */
class Lateness {
    private since?: number;
    private isReported = false;

    constructor(private readonly context: JobContext) {}

    failed(at: number, error: unknown): void {
        this.since ??= at;
        const forMs = Date.now() - this.since;
        if (this.isReported || forMs < maxLateMs) return;
        this.isReported = true;
        const problem = error instanceof Error ? error.message : String(error);
        this.context.missed({ at: this.since, forMs, problem });
    }

    over(): void {
        this.since = undefined;
        this.isReported = false;
    }
}

class Killer {
    private atFirst?: number;

    constructor(
        private readonly killing: Killing,
        private readonly context: JobContext,
    ) {}

    /**
     * Makes the kill that is due.
     *
     * @returns false if none may be made now: the attack is not there, or the radius is used up
     * @throws Error if it may be made, and cannot be, or if that is not known
     */
    async killDue(): Promise<boolean> {
        const { killing, context } = this;
        const { api, namespace, log } = context;
        if (!(await context.mayAct())) return false;
        const matching = await listMatching(killing, context);
        // In a large namespace the list takes a moment.
        if (!(await context.mayAct())) return false;
        this.atFirst ??= containersIn(matching);
        const victims = chooseVictims(matching, this.atFirst, killing, shuffled);
        const failures: unknown[] = [];
        const killed = await inTurns(victims, maxKills, async ({ name, uid }) => {
            const at = Date.now();
            const isDeleted = await api
                .delete({ resource: resources.pod, namespace, name }, uid)
                .catch((error: unknown) => void failures.push(error));
            if (isDeleted) context.killed({ at, pod: name, uid });
            return isDeleted === true;
        });
        if (!killed.includes(true)) {
            if (failures.length > 0) throw failures[0];
            return false;
        }
        failures.forEach(log);
        const those = victims.filter((_, index) => killed[index]);
        await noteKills(those, killing, context).catch(log);
        return true;
    }
}

/** The last kills of all attacks, for programs that show what is attacked: a killed pod's label goes with it. */
const lastKilled = new Map<string, string[]>();

async function noteKills(pods: readonly Candidate[], { effect }: Killing, { noteOnOwnPod }: JobContext): Promise<void> {
    for (const workload of new Set(pods.map((pod) => pod.workload))) {
        const names = pods.flatMap((pod) => (pod.workload === workload ? [pod.name] : []));
        lastKilled.set(workload, names);
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
