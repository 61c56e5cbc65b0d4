import { setTimeout as sleep } from "node:timers/promises";
import { annotations, labels } from "../../../cluster/labels";
import { type ObjectReference, pathOf, resources } from "../../../cluster/resources";
import { inTurns } from "../../../values/async";
import { parseJson } from "../../../values/json";
import { deploymentOf, replicaSetOf } from "../../../targets/containers";
import { shuffled } from "../../../targets/radius";
import type { BeginInJob, JobContext } from "../job-part";
import { Lateness } from "../lateness";
import { evictionOf, evictionRefusal, type Status } from "./eviction";
import {
    affectedIn,
    type Candidate,
    candidateOf,
    chooseVictims,
    containersIn,
    type Killing,
    type RequestData,
    wantedIn,
    whyNoVictim,
} from "./victims";

const lookMs = 200;
const maxKills = 16;
/** A kill that is late by less than this is not reported: the API server may be busy, or restart. */
const maxLateMs = 5_000;
/**
 * A killed pod without a replacement for this long is missing for good, or its workload was scaled down, which the Job
 * does not see without a ReplicaSet.
 */
const unreplacedMs = 30_000;
/** A refused eviction is tried again after this time, so that two refusals in a row show within `maxLateMs`. */
const refusedMs = maxLateMs / 2;

export const killInJob: BeginInJob<Killing> = (killing, context) => {
    void killWhileAllowed(killing, context);
    return { saysWhoIsAttacked: true };
};

async function killWhileAllowed(killing: Killing, context: JobContext): Promise<never> {
    const killer = new Killer(killing, context);
    const late = (maxMs: number) => new Lateness(context, "the kill", maxMs);
    const [lateness, unreplaced] = [late(maxLateMs), late(unreplacedMs)];
    const stopped = late(Math.min(Math.max(killing.intervalMs, maxLateMs), unreplacedMs));
    for (let due = 0; ; await sleep(lookMs)) {
        if (Date.now() < due) continue;
        const begun = Date.now();
        const made = await killer.killDue().catch((error: unknown) => {
            context.log(error);
            lateness.due(begun, error as Error);
        });
        if (made === undefined) continue;
        lateness.due(begun, made.refusal);
        unreplaced.due(begun, made.unreplaced);
        stopped.due(begun, made.stopped);
        if (made.killed > 0) due = begun + killing.intervalMs;
        else if (made.refused > 0) due = begun + Math.min(killing.intervalMs, refusedMs);
    }
}

interface Made {
    killed: number;
    refused: number;
    /** Why the API server has refused every eviction while no pod was missing, so that nothing is attacked. */
    refusal?: string;
    /** Says that pods are missing, and none starts in their place. */
    unreplaced?: string;
    /** Why no kill is possible any more, as things are. */
    stopped?: string;
}

class Killer {
    private atFirst?: number;
    /** See `wantedIn`. */
    private readonly met = new Map<string | undefined, number>();
    private request?: RequestData;
    /** The uids of pods whose refusal was reported: that is done once. */
    private readonly refused = new Set<string>();

    constructor(
        private readonly killing: Killing,
        private readonly context: JobContext,
    ) {}

    /**
     * Makes the kill that is due. It kills none while the attack is not there, or the radius is used up.
     *
     * @throws Error if a kill is allowed but cannot be made, or if that is not known
     */
    async killDue(): Promise<Made> {
        const { killing, context } = this;
        const { log } = context;
        const none = { killed: 0, refused: 0 };
        const permission = await context.permission();
        if (permission === "lease-expired")
            return { ...none, stopped: "the namespace's lease names the run, but has expired" };
        if (permission !== "granted") return none;
        const request = (this.request ??= await requestIn(context));
        // The set is empty if the request names no nodes.
        const nodes = killing.isOnNodes && new Set(request.nodes?.split(","));
        const { matching, replicas, isOneStopping } = await listMatching(killing, context, nodes);
        // In a large namespace the list takes so long that the attack may have ended meanwhile.
        if ((await context.permission()) !== "granted") return none;
        // What an earlier process of this Job has killed may not be replaced yet.
        this.atFirst ??= Math.max(Number(request.atFirst ?? 0), containersIn(matching));
        for (const { owner, containers } of matching) this.met.set(owner, containers);
        const wanted = Math.min(this.atFirst, wantedIn(this.met, replicas) ?? Infinity);
        const victims = chooseVictims(matching, wanted, killing, shuffled);
        const failures: unknown[] = [];
        const outcomes = await inTurns(victims, maxKills, (victim) =>
            this.remove(victim).catch((error: unknown) => void failures.push(error)),
        );
        const killed = victims.filter((_, index) => outcomes[index] === true);
        const refusals = outcomes.filter((outcome) => typeof outcome === "string");
        if (killed.length === 0) {
            if (failures.length > 0) throw failures[0];
            const isAttacked = affectedIn(matching, wanted) > 0;
            return {
                killed: 0,
                refused: refusals.length,
                refusal: isAttacked ? undefined : refusals[0],
                unreplaced: isOneStopping ? undefined : this.whyUnreplaced(matching, wanted),
                stopped: whyNoVictim(matching, wanted, killing),
            };
        }
        failures.forEach(log);
        await noteKills(killed, killing, context).catch(log);
        return { killed: killed.length, refused: refusals.length };
    }

    /** Replacements on other nodes than the target's do not match; the verdict says how far such a kill came. */
    private whyUnreplaced(matching: readonly Candidate[], wanted: number): string | undefined {
        const there = containersIn(matching);
        if (this.killing.isOnNodes || there >= wanted || matching.some(({ ready }) => !ready)) return undefined;
        return `${there} of ${wanted} containers are there that matched at first, all ready, and none starts`;
    }

    /** @returns whether it has removed the pod, or why the API server has refused that */
    private async remove({ name, uid }: Candidate): Promise<boolean | string> {
        const { killing, context } = this;
        const { api, namespace } = context;
        const at = Date.now();
        const pod = { resource: resources.pod, namespace, name };
        const removed = killing.by === "eviction" ? await evict(pod, uid, context) : await api.delete(pod, { uid });
        if (removed === true) context.killed({ at, pod: name, uid });
        if (typeof removed === "string" && !this.refused.has(uid)) {
            this.refused.add(uid);
            context.refused({ at, pod: name, uid, problem: removed });
        }
        return removed;
    }
}

/** @returns false if the pod does not exist; why, if the API server refuses it. @throws Error if it fails otherwise */
async function evict(pod: ObjectReference, uid: string, { post }: JobContext): Promise<boolean | string> {
    const { status, body } = await post(`${pathOf(pod)}/eviction`, evictionOf(pod, uid));
    if (status < 300 || status === 404) return status !== 404;
    const refusal = evictionRefusal({ ...(parseJson(body) as Status | undefined), code: status });
    if (refusal !== undefined) return refusal;
    throw new Error(`${pod.resource.kind} ${pod.name} cannot be evicted: ${status}`);
}

async function requestIn({ api, object }: JobContext): Promise<RequestData> {
    const request = (await api.get(object)) as { data?: RequestData } | undefined;
    return request?.data ?? {};
}

/** The last kills of all attacks, for programs that show what is attacked: a killed pod takes its label with it. */
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

interface Matching {
    matching: Candidate[];
    /** How many pods each owner wants: a Deployment by its name, or a ReplicaSet without one by its uid. */
    replicas: ReadonlyMap<string, number>;
    /** Whether one of these pods is still stopping: many workloads replace a pod only once it has gone. */
    isOneStopping: boolean;
}

async function listMatching(
    killing: Killing,
    { api, namespace, label }: JobContext,
    nodes?: ReadonlySet<string>,
): Promise<Matching> {
    const replicaSets = new Map<string, string | undefined>();
    const replicas = new Map<string, number>();
    for await (const one of api.list(resources.replicaSet, { namespace })) {
        const { uid } = one.metadata as { uid: string };
        const deployment = deploymentOf(one);
        replicaSets.set(uid, deployment);
        const owner = deployment ?? uid;
        replicas.set(owner, (replicas.get(owner) ?? 0) + (one.spec?.replicas ?? 1));
    }
    const matching: Candidate[] = [];
    let isOneStopping = false;
    for await (const pod of api.list(resources.pod, { namespace })) {
        const { uid } = replicaSetOf(pod) ?? {};
        const deployment = uid === undefined ? undefined : replicaSets.get(uid);
        const { deletionTimestamp, ...metadata } = pod.metadata!;
        const candidate = candidateOf({ ...pod, metadata }, deployment, { ...killing, label }, nodes);
        if (candidate === undefined) continue;
        // A deletion timestamp is the end of the pod's grace period.
        if (deletionTimestamp === undefined) {
            const alone = uid !== undefined && replicas.has(uid) ? uid : undefined;
            matching.push({ ...candidate, owner: deployment ?? alone });
        } else isOneStopping ||= new Date(deletionTimestamp).getTime() > Date.now();
    }
    return { matching, replicas, isOneStopping };
}
