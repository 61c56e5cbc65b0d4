import type { Proof } from "../attacks/kind";
import { type Cluster, ignoreNotFound } from "../cluster/client";
import { pause } from "../pause";
import type { Chosen } from "../targets/choose";
import type { Target } from "../targets/containers";
import { type Control, enforcementAdvice, type Inconclusive, type InconclusiveReason, type Proven } from "./outcome";
import { poll } from "./poll";
import { probe, type Question } from "./probe";
import { socketsOf, startTimeoutMs, type Witness } from "./witness";

/** How long a cluster may take to enforce a policy. kube-router takes a second; others poll. */
const enforcementTimeoutMs = 15_000;

/**
 * Time limits of a probe from within a target, in milliseconds. The control, before the attack, must work within the
 * first. Under attack a probe gets no longer than the control took, since the application is attacked and not checked
 * meanwhile: what worked within that time and no longer does is cut off. The last probe may take longer, since it
 * delays nothing.
 */
const probeTimeoutMs = { control: 300, last: 1_000 };

/**
 * Proves one attack. What must fail under it is tried before, when it must work, then until it fails, and again at the
 * end: connections into the targets by the witness, an ordinary pod; connections out of them and DNS lookups from
 * within each target; and connections between targets and peers from within both.
 */
export class AttackProof {
    private readonly targets: readonly Target[];
    private readonly peers: readonly Target[];
    private readonly controlMs: number;

    /** @param controlMs how long the control took @default its time limit */
    constructor(
        private readonly cluster: Cluster,
        private readonly proof: Proof,
        { targets, peers = [] }: Pick<Chosen, "targets" | "peers">,
        private readonly witness: Witness,
        controlMs: number = probeTimeoutMs.control,
    ) {
        // Never more than its limit: the last probe must not end long before the window does.
        this.controlMs = Math.min(probeTimeoutMs.control, controlMs);
        this.targets = targets;
        this.peers = peers;
    }

    /** Tries, before the attack, what must fail under it. */
    async control(): Promise<Control> {
        const tried = await this.tryAll(probeTimeoutMs.control, startTimeoutMs);
        if ("inconclusive" in tried) return tried;
        if (tried.failed === 0) return { tookMs: tried.tookMs };
        return { inconclusive: `${this.probed()} did not work even before the attack began` };
    }

    /** Waits until everything fails that must. @returns since when, or why that cannot be shown */
    async attackProven(): Promise<Proven | Inconclusive> {
        const isUndefined = (reason: InconclusiveReason | undefined) => reason === undefined;
        const [inward, working, alive] = await Promise.all([
            poll(
                () => this.witness.cut(),
                (seen) => !("inconclusive" in seen),
                enforcementTimeoutMs,
            ),
            poll(() => this.stillWorking(this.controlMs), isUndefined, enforcementTimeoutMs),
            this.proof.deleted
                ? poll(() => this.stillAlive(this.targets), isUndefined, enforcementTimeoutMs)
                : undefined,
        ]);
        if ("inconclusive" in inward) return inward;
        const inconclusive = alive ?? working;
        if (inconclusive !== undefined) return { inconclusive };
        return { ...inward, attackedAt: Date.now() };
    }

    /**
     * Waits until a moment and looks whether the attack worked all the time.
     *
     * @param endMs the moment, in milliseconds since the epoch
     * @param signal set if the run is aborted earlier: that is the moment, then
     * @returns why it did not, as far as is seen
     */
    async attackHolds(proven: Proven, endMs: number, signal?: AbortSignal): Promise<InconclusiveReason | undefined> {
        // The clock may be changed meanwhile.
        const end = performance.now() + endMs - Date.now();
        // Begins before the end: a dropped connection takes the whole timeout to fail, plus what the control took.
        await pause(end - probeTimeoutMs.last - this.controlMs - performance.now(), signal);
        const working = await this.stillWorking(probeTimeoutMs.last);
        await pause(end - performance.now(), signal);
        const changed = this.proof.deleted ? this.stillKilled() : targetsUnchanged(this.cluster, this.targets);
        return (await this.witness.stillCut(proven)) ?? (await changed) ?? working;
    }

    private async stillKilled(): Promise<InconclusiveReason | undefined> {
        const kills = (await this.witness.kills()).map(({ killed }) => killed);
        if (kills.length === 0) return "the targets are gone, but the deadline Job did not delete them";
        return this.stillAlive(kills);
    }

    /** The pods, identified by uid, that exist and are not being deleted, in a sentence. */
    private async stillAlive(pods: readonly { pod: string; uid: string }[]): Promise<InconclusiveReason | undefined> {
        const namespace = this.targets[0]!.namespace;
        const { items } = await this.cluster.core.listNamespacedPod({ namespace });
        const staying = items.filter(({ metadata }) => !metadata!.deletionTimestamp);
        const living = new Set(staying.map(({ metadata }) => metadata!.uid));
        const alive = pods.filter(({ uid }) => living.has(uid)).map(({ pod }) => pod);
        return alive.length === 0 ? undefined : `${alive.join(", ")} should have been deleted, but still runs`;
    }

    private async stillWorking(timeoutMs: number): Promise<InconclusiveReason | undefined> {
        const tried = await this.tryAll(timeoutMs, 0);
        if ("inconclusive" in tried) return tried.inconclusive;
        if (tried.worked === 0) return undefined;
        return `the NetworkPolicy exists, but ${this.probed()} still works: ${enforcementAdvice}`;
    }

    private probed(): string {
        if (this.proof.peers) return "a fresh connection between the targets and their peers";
        return this.proof.lookup ? "a DNS lookup in the targets" : "a fresh connection out of the targets";
    }

    /**
     * Tries everything that must fail under the attack, with a time limit for each.
     *
     * @returns how many worked
     */
    private async tryAll(
        timeoutMs: number,
        waitForWitnessMs: number,
    ): Promise<{ worked: number; failed: number; tookMs: number } | Inconclusive> {
        const { outward, lookup, peers } = this.proof;
        const questions: Question[] = [];
        if (outward) {
            const host = await this.witness.address(waitForWitnessMs);
            questions.push({ connect: { host, port: outward.port } });
        }
        if (lookup) questions.push({ lookup: lookup.name });
        const fromTargets = this.targets.flatMap((from) => questions.map((question) => ({ from, question })));
        const between = (peers?.ways ?? []).flatMap((way) =>
            way === "egress"
                ? connections(this.targets, this.peers, peers?.ports)
                : connections(this.peers, this.targets, peers?.ports),
        );
        const couldNot = (problem: string) => ({ inconclusive: `${this.probed()} could not be tried: ${problem}` });
        if (peers && between.length === 0)
            return couldNot("neither the targets nor their peers declare a TCP port that the attack blocks");

        const begun = performance.now();
        const probes = [...fromTargets, ...between].map(({ from, question }) =>
            probe(this.cluster, from, question, timeoutMs),
        );
        const results = await Promise.all(probes);
        const tookMs = Math.round(performance.now() - begun);
        const problem = results.find((result) => "problem" in result);
        if (problem) return couldNot(problem.problem);
        const worked = results.filter((result) => "worked" in result && result.worked).length;
        return { worked, failed: results.length - worked, tookMs };
    }
}

/** A connection from each of some containers to each declared TCP port, or only some ports, of each of others. */
function connections(
    from: readonly Target[],
    to: readonly Target[],
    only?: readonly number[],
): { from: Target; question: Question }[] {
    const questions = socketsOf(to, only).map((connect) => ({ connect }));
    return from.flatMap((source) => questions.map((question) => ({ from: source, question })));
}

/** Whether the attacked containers are still the running ones. @returns what became of them, if not */
async function targetsUnchanged(cluster: Cluster, targets: readonly Target[]): Promise<InconclusiveReason | undefined> {
    for (const { pod: name, namespace, uid, container, containerId } of targets) {
        const pod = await ignoreNotFound(cluster.core.readNamespacedPod({ name, namespace }));
        if (!pod || pod.metadata!.uid !== uid || pod.metadata!.deletionTimestamp) {
            return `the target ${name} was gone before the run had ended`;
        }
        const status = pod.status?.containerStatuses?.find((candidate) => candidate.name === container);
        if (status?.containerID !== containerId) return `the target ${name}/${container} was restarted during the run`;
    }
    return undefined;
}
