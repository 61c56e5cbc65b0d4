/** Whether the pods of an attack and its peers are those that it was made for, and whether a kill has removed them. */
import type { Cluster } from "../cluster/client";
import type { Proof } from "../kinds/attacks/attack-kind";
import type { Plan, RunAttack } from "../definition/plan";
import type { KillReport, RefusedEviction } from "../witness/protocol";
import { inTurns } from "../values/async";
import { few, quoted } from "../values/quoted";
import { select, type Target } from "../targets/containers";
import { discover, peersOf } from "../targets/discover";
import { reason, type Reason } from "../values/reasons";
import { resources } from "../cluster/resources";
import { isKilledForMemory, runningIdOf } from "../values/kubernetes-rules";

/** Calls to the API server at a time: the check has ended, and only its end waits for them. */
const maxCalls = 10;

/**
 * Why attacked containers are not the running ones any more. Undefined if they still are.
 *
 * @param proof what the attack does to them itself. @default they must go on running
 */
export async function whyChanged(
    cluster: Cluster,
    targets: readonly Target[],
    proof: Pick<Proof, "outOfMemory" | "stopped"> = {},
): Promise<Reason | undefined> {
    const reasons = await inTurns(targets, maxCalls, (target) => whyOneChanged(cluster, target, proof));
    return reasons.find((one) => one !== undefined);
}

async function whyOneChanged(
    cluster: Cluster,
    target: Target,
    { outOfMemory, stopped }: Pick<Proof, "outOfMemory" | "stopped">,
): Promise<Reason | undefined> {
    const { pod: name, namespace, uid, container, containerId } = target;
    const pod = await cluster.get({ resource: resources.pod, name, namespace });
    if (!pod || pod.metadata!.uid !== uid || pod.metadata!.deletionTimestamp)
        return reason("target-changed", `the target ${name} was gone before the run had ended`);
    if (stopped) return undefined;
    const status = pod.status?.containerStatuses?.find((candidate) => candidate.name === container) ?? {};
    const isKilled = isKilledForMemory(status, containerId);
    if (outOfMemory && isKilled) return undefined;
    const runningId = runningIdOf(status);
    if (runningId === containerId) return undefined;
    const how = runningId === "" ? "ended" : "was restarted";
    return reason(
        "target-changed",
        `the target ${name}/${container} ${how} during the run${isKilled ? ", killed for memory" : ""}`,
    );
}

/** Which of some pods, identified by uid, exist and are not being deleted. Undefined if none does. */
async function whyAlive(
    cluster: Cluster,
    namespace: string,
    pods: readonly { pod: string; uid: string }[],
): Promise<Reason | undefined> {
    const items = await cluster.all(resources.pod, { namespace });
    const staying = items.filter(({ metadata }) => !metadata!.deletionTimestamp);
    const living = new Set(staying.map(({ metadata }) => metadata!.uid));
    const alive = pods.filter(({ uid }) => living.has(uid)).map(({ pod }) => pod);
    if (alive.length === 0) return undefined;
    return reason("attack-not-proven", `${alive.join(", ")} should have been deleted, but still runs`);
}

/**
 * Why the targets of a kill are not gone that must be: all but those whose eviction was refused, and not all of them.
 *
 * @param log what the Job has reported of the attack
 */
export async function whyNotGone(
    cluster: Cluster,
    namespace: string,
    targets: readonly Target[],
    { kills, refused }: { kills: readonly KillReport[]; refused: readonly RefusedEviction[] },
): Promise<Reason | undefined> {
    const admitted = targets.filter(({ uid }) => refused.every((one) => one.refused.uid !== uid));
    if (admitted.length > 0) return whyAlive(cluster, namespace, admitted);
    // Those that were refused at first may be evicted later.
    const { pod, problem } = refused[0]!.refused;
    return kills.length > 0
        ? undefined
        : reason("eviction-refused", `the API server did not evict ${pod}: ${quoted(problem)}`);
}

/** Why it is not shown that the deadline Job has killed pods. Undefined if it is. */
export async function whyNotKilled(
    cluster: Cluster,
    namespace: string,
    kills: readonly KillReport[],
): Promise<Reason | undefined> {
    if (kills.length === 0)
        return reason("attack-not-proven", "the targets are gone, but the deadline Job did not delete them");
    const killed = kills.map((kill) => kill.killed);
    return whyAlive(cluster, namespace, killed);
}

/**
 * Why an attack's peers are not those of before it: it denies traffic with these alone, or not on every network with
 * others. Undefined if none came, and one of them is left at least.
 */
export async function whyPeersChanged(
    cluster: Cluster,
    plan: Plan,
    { attack, target, chosen: { peers, targets } }: Pick<RunAttack, "attack" | "chosen"> & { target: string },
): Promise<Reason | undefined> {
    const expression = peersOf(attack);
    if (expression === undefined || peers === undefined) return undefined;
    const discovered = await discover(cluster, { ...plan, attacks: [{ attack, target }] });
    const uidsOf = (some: readonly { uid: string }[]) => new Set(some.map(({ uid }) => uid));
    const [earlier, attacked] = [uidsOf(peers), uidsOf(targets)];
    const there = select(discovered, expression).filter(({ uid }) => !attacked.has(uid));
    const came = [...new Set(there.filter(({ uid }) => !earlier.has(uid)).map(({ pod }) => pod))];
    if (came.length > 0) {
        const joined = `${few(came)} joined the peers ${expression} during the run`;
        return reason("peers-changed", `${joined}, and the attack was made for those before`);
    }
    if (there.length > 0) return undefined;
    return reason("peers-changed", `none of the peers ${expression} was left before the run had ended`);
}
