import { dnsPorts } from "../attacks/dns";
import type { Proof } from "../attacks/kind";
import { type Cluster, ignoreNotFound } from "../cluster/client";
import { pause } from "../pause";
import type { Chosen } from "../targets/choose";
import type { Target } from "../targets/containers";
import { explainWorking, type Working } from "./allowing-policies";
import { connections } from "./connections";
import { type Control, enforcementAdvice, type Inconclusive, type InconclusiveReason, type Proven } from "./outcome";
import { poll } from "./poll";
import type { PositiveControl } from "./positive-control";
import { probe, type Question } from "./probe";
import { startTimeoutMs, type Witness } from "./witness";

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
 * within each target; and connections between targets and peers from within both. What must still work is tried, too:
 * see `PositiveControl`.
 */
export class AttackProof {
    private readonly targets: readonly Target[];
    private readonly peers: readonly Target[];
    private readonly controlMs: number;

    /**
     * @param controlMs how long the control took @default its time limit
     * @param positive tries what must still work @default nothing is tried
     */
    constructor(
        private readonly cluster: Cluster,
        private readonly proof: Proof,
        { targets, peers = [] }: Pick<Chosen, "targets" | "peers">,
        private readonly witness: Witness,
        controlMs: number = probeTimeoutMs.control,
        private readonly positive?: PositiveControl,
    ) {
        // Never more than its limit: the last probe must not end long before the window does.
        this.controlMs = Math.min(probeTimeoutMs.control, controlMs);
        this.targets = targets;
        this.peers = peers;
    }

    /** Tries, before the attack, what must fail under it, and what must still work. */
    async control(): Promise<Control> {
        // Not at once: what must fail may take no longer under attack than now.
        const tried = await this.tryAll(probeTimeoutMs.control, startTimeoutMs);
        if ("inconclusive" in tried) return tried;
        if (tried.failed === 0) {
            const leftOut = await this.positive?.before(startTimeoutMs);
            return { tookMs: tried.tookMs, ...(leftOut?.length && { leftOut }) };
        }
        return { inconclusive: `${this.probed()} did not work even before the attack began` };
    }

    /** Waits until everything fails that must. @returns since when, or why that cannot be shown */
    async attackProven(): Promise<Proven | Inconclusive> {
        const isUndefined = (reason: unknown) => reason === undefined;
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
        if ("inconclusive" in inward) return { inconclusive: await this.explained(inward) };
        if (alive !== undefined) return { inconclusive: alive };
        if (working !== undefined) return { inconclusive: await this.explained(working) };
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
        // The checks do not wait for it.
        const lostAtOnce = this.positive?.lost();
        // Begins before the end: a dropped connection takes the whole timeout to fail, plus what the control took.
        await pause(end - probeTimeoutMs.last - this.controlMs - performance.now(), signal);
        const [working, lost] = await Promise.all([this.stillWorking(probeTimeoutMs.last), this.positive?.lost()]);
        await pause(end - performance.now(), signal);
        const changed = this.proof.deleted ? this.stillKilled() : targetsUnchanged(this.cluster, this.targets);
        const [cut, unlike, overreach] = await Promise.all([this.witness.stillCut(proven), changed, lostAtOnce]);
        // A pod that is gone has no label either. Of a kill, the Job's silence comes first: it tells what was killed.
        if (unlike !== undefined && (!this.proof.deleted || cut === undefined)) return unlike;
        const seen = cut ?? working;
        if (seen) return this.explained(seen);
        return overreach ?? lost ?? (await this.positive?.lostInward(proven.witnessedAt));
    }

    /** The reason, or if another NetworkPolicy allows what still works, that one. */
    private async explained({ inconclusive, working }: Inconclusive): Promise<InconclusiveReason> {
        return (working && (await explainWorking(this.cluster, this.targets, working))) ?? inconclusive;
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

    private async stillWorking(timeoutMs: number): Promise<Inconclusive | undefined> {
        const tried = await this.tryAll(timeoutMs, 0);
        if ("inconclusive" in tried) return tried;
        if (tried.worked === 0) return undefined;
        const inconclusive = `the NetworkPolicy exists, but ${this.probed()} still works: ${enforcementAdvice}`;
        return { inconclusive, working: this.working() };
    }

    /** The connections that are tried from within targets and peers. */
    private working(): Working {
        const { outward, lookup, peers } = this.proof;
        if (peers) return { ways: peers.ways, ports: peers.ports, with: "unknown" };
        if (lookup) return { ways: ["egress"], ports: dnsPorts, with: "outside" };
        return { ways: ["egress"], ports: outward && [outward.port], with: "witness" };
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
            const host = (await this.witness.place(waitForWitnessMs)).address;
            questions.push({ connect: { host, port: outward.port } });
        }
        if (lookup) questions.push({ lookup: lookup.name });
        const fromTargets = this.targets.flatMap((from) => questions.map((question) => ({ from, question })));
        const isBlocked = (port: number) => peers?.ports?.includes(port) ?? true;
        const between = (peers?.ways ?? []).flatMap((way) =>
            way === "egress"
                ? connections(this.targets, this.peers, isBlocked)
                : connections(this.peers, this.targets, isBlocked),
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
