import { setTimeout as sleep } from "node:timers/promises";
import type { Target } from "../shared/containers";
import { type Cluster, orMissing } from "../shared/kubernetes";
import type { Proof } from "./attacks/attack";
import { probe, type ProbeResult, type Question } from "./probe";
import type { Chosen } from "./targets/chosen";
import { startMs, type Witness } from "./witness";

/** Why an attack is not proven: the reason of the verdict INCONCLUSIVE. */
export type Doubt = string;

/** What came of trying, before the attack, what is to fail under it: why it does not even work now, or how long it took. */
export type Control = { doubt: Doubt } | { tookMs: number };

/** Since when an attack works: by this machine's clock, and by that of the witness, which may differ. */
export interface Proven {
    attackedAt: number;
    witnessedAt: number;
}

/** How long a cluster is given to enforce a policy. kube-router takes a second; others poll. */
const enforcementMs = 15_000;
const pollMs = 50;

/**
 * How long an attempt from within a target may take, in milliseconds. The control, before the attack, must work within the
 * first. Under attack no attempt is given longer than the control took with all around it, since the shop is attacked
 * meanwhile and nobody asks it: what worked within that, and no longer does, is cut off. The last attempt is given more,
 * and costs nobody time.
 */
const patienceMs = { control: 300, last: 1_000 };

/**
 * That an attack works. Whatever must fail under it is tried before, when it must work, then until it fails, and again
 * at the end: inwards by the witness, an ordinary pod; outwards, and for names, from within each target; and where only
 * some peers are concerned, from within each target to each of them, and from within each of them.
 */
export class AttackProof {
    private readonly targets: readonly Target[];
    private readonly peers: readonly Target[];
    /** What the control took, which is never more than it may: the last attempt must not end long before the window does. */
    private readonly controlMs: number;

    /** @param controlMs how long the control took, once it was made @default as long as it may */
    constructor(
        private readonly cluster: Cluster,
        private readonly proof: Proof,
        { targets, peers = [] }: Pick<Chosen, "targets" | "peers">,
        private readonly witness: Witness,
        controlMs: number = patienceMs.control,
    ) {
        this.controlMs = Math.min(patienceMs.control, controlMs);
        this.targets = targets;
        this.peers = peers;
    }

    /** Tries, before the attack, what is to fail under it. */
    async control(): Promise<Control> {
        const attempts = await this.attempts(startMs);
        const begun = Date.now();
        const results = await Promise.all(attempts.map((attempt) => attempt(patienceMs.control)));
        const tookMs = Date.now() - begun;
        const problem = results.find((result) => "problem" in result);
        if (problem) return { doubt: `${this.wayOut()} could not be tried: ${problem.problem}` };
        const failed = results.some((result) => "worked" in result && !result.worked);
        return failed ? { doubt: `${this.wayOut()} did not work even before the attack began` } : { tookMs };
    }

    /** Waits until all that is to fail fails; says since when, or why that cannot be shown. */
    async attackProven(): Promise<Proven | { doubt: Doubt }> {
        const giveUpAt = Date.now() + enforcementMs;
        const [inward, outward, killed] = await Promise.all([
            this.cutInwards(giveUpAt),
            this.cutOutwards(giveUpAt),
            this.killedAt(giveUpAt),
        ]);
        if ("doubt" in inward) return inward;
        if (killed && "doubt" in killed) return killed;
        return outward === undefined ? { ...inward, ...killed } : { doubt: outward };
    }

    /**
     * Whether the attack works until then, as far as is seen; else why not.
     *
     * @param proven since when it works
     * @param endMs until when, in milliseconds since the epoch
     */
    async attackHolds(proven: Proven, endMs: number): Promise<Doubt | undefined> {
        // Begun before the end, since a connection that is dropped takes as long to fail, and all around it what it took before.
        await sleep(endMs - patienceMs.last - this.controlMs - Date.now());
        const outward = await this.stillWorking(patienceMs.last);
        await sleep(endMs - Date.now());
        const changed = this.proof.deleted ? this.stillKilled() : targetsUnchanged(this.cluster, this.targets);
        return (await this.witness.stillCut(proven)) ?? (await changed) ?? outward;
    }

    /** When all targets had been deleted, known by their uid; undefined where that is not the attack. */
    private async killedAt(giveUpAt: number): Promise<{ attackedAt: number } | { doubt: Doubt } | undefined> {
        if (!this.proof.deleted) return undefined;
        for (;;) {
            const alive = await this.alive(this.targets);
            if (alive.length === 0) return { attackedAt: Date.now() };
            if (Date.now() > giveUpAt)
                return { doubt: `${alive.map(({ pod }) => pod).join(", ")} should have been deleted, and still runs` };
            await sleep(pollMs);
        }
    }

    private async stillKilled(): Promise<Doubt | undefined> {
        const kills = (await this.witness.kills()).map(({ killed }) => killed);
        if (kills.length === 0) return "the targets are gone, but it was not the deadline's Job that deleted them";
        const [alive] = await this.alive(kills);
        return alive && `${alive.pod} should have been deleted, and still runs`;
    }

    /** Those of some pods, known by their uid, that are there and are not being deleted. */
    private async alive<P extends { pod: string; uid: string }>(pods: readonly P[]): Promise<P[]> {
        const namespace = this.targets[0]!.namespace;
        const { items } = await this.cluster.core.listNamespacedPod({ namespace });
        const living = new Set(
            items.filter(({ metadata }) => !metadata!.deletionTimestamp).map(({ metadata }) => metadata!.uid),
        );
        return pods.filter(({ uid }) => living.has(uid));
    }

    private async cutInwards(giveUpAt: number): Promise<Proven | { doubt: Doubt }> {
        for (;;) {
            const seen = await this.witness.cut();
            if (seen.at !== undefined) return { attackedAt: Date.now(), witnessedAt: seen.at };
            if (Date.now() > giveUpAt) return { doubt: seen.doubt };
            await sleep(pollMs);
        }
    }

    private async cutOutwards(giveUpAt: number): Promise<Doubt | undefined> {
        for (;;) {
            const doubt = await this.stillWorking(this.controlMs);
            if (doubt === undefined || Date.now() > giveUpAt) return doubt;
            await sleep(pollMs);
        }
    }

    private async stillWorking(patience: number): Promise<Doubt | undefined> {
        const results = await Promise.all((await this.attempts(0)).map((attempt) => attempt(patience)));
        const problem = results.find((result) => "problem" in result);
        if (problem) return `${this.wayOut()} could not be tried: ${problem.problem}`;
        if (!results.some((result) => "worked" in result && result.worked)) return undefined;
        return `the NetworkPolicy is there, but ${this.wayOut()} still works: ${enforcementAdvice}`;
    }

    private wayOut(): string {
        if (this.proof.peers) return "a fresh connection between the targets and their peers";
        return this.proof.lookup ? "looking up a name in the targets" : "a fresh connection from the targets outwards";
    }

    /** Whatever must fail under the attack, to be tried, each for so many milliseconds. */
    private async attempts(waitForWitnessMs: number): Promise<((patience: number) => Promise<ProbeResult>)[]> {
        const { outward, lookup, peers } = this.proof;
        const fromTargets: Question[] = [];
        if (outward)
            fromTargets.push({ connect: { host: await this.witness.address(waitForWitnessMs), port: outward.port } });
        if (lookup) fromTargets.push({ lookup: lookup.name });
        const between = (peers?.ways ?? []).flatMap((way) =>
            way === "egress"
                ? connections(this.targets, this.peers, peers?.ports)
                : connections(this.peers, this.targets, peers?.ports),
        );
        const all = [
            ...this.targets.flatMap((from) => fromTargets.map((question) => ({ from, question }))),
            ...between,
        ];
        if (peers && between.length === 0)
            return [async () => ({ problem: "neither the targets nor their peers declare such a TCP port" })];
        return all.map(
            ({ from, question }) =>
                (patience) =>
                    probe(this.cluster, from, question, patience),
        );
    }
}

/** A connection from each of some containers to each TCP port, or only some ports, of each of others. */
function connections(
    from: readonly Target[],
    to: readonly Target[],
    only?: readonly number[],
): { from: Target; question: Question }[] {
    return from.flatMap((source) =>
        to.flatMap(({ address, ports }) =>
            ports
                .filter((port) => only?.includes(port) ?? true)
                .map((port) => ({ from: source, question: { connect: { host: address, port } } })),
        ),
    );
}

/** What to do about a cluster that accepts policies and does nothing. */
export const enforcementAdvice =
    "this cluster's network does not enforce NetworkPolicies. Use one that does, for example `minikube start --cni=calico`";

/** Whether the containers that were attacked are still the ones that run; else what became of them. */
async function targetsUnchanged(cluster: Cluster, targets: readonly Target[]): Promise<Doubt | undefined> {
    for (const target of targets) {
        const pod = await orMissing(cluster.core.readNamespacedPod({ name: target.pod, namespace: target.namespace }));
        if (!pod || pod.metadata!.uid !== target.uid || pod.metadata!.deletionTimestamp) {
            return `the target ${target.pod} was gone before the run had ended`;
        }
        const status = pod.status?.containerStatuses?.find(({ name }) => name === target.container);
        if (status?.containerID !== target.containerId)
            return `the target ${target.pod}/${target.container} was restarted in the middle of the run`;
    }
    return undefined;
}
