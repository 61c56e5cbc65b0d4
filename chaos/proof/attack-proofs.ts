import { attackKindOf } from "../attacks/registry";
import type { Cluster } from "../cluster/client";
import { type Plan, targetLabelFor } from "../definition/plan";
import type { Chosen } from "../targets/choose";
import { AttackProof } from "./attack-proof";
import type { Control, Inconclusive, InconclusiveReason, Proven } from "./outcome";
import { Witness } from "./witness";

interface Attack {
    name: string;
    proof: AttackProof;
    witness: Witness;
    deletesPods: boolean;
}

/** Proves all attacks of an experiment at once. If one is not proven, nothing is known. */
export class AttackProofs {
    private readonly attacks: Attack[];

    /**
     * @param job name of the deadline Job
     * @param chosen the targets of the attacks, in the order of the plan
     * @param controlMs how long the slowest control took @default the controls' time limit
     */
    constructor(cluster: Cluster, plan: Plan, job: string, chosen: readonly Chosen[], controlMs?: number) {
        this.attacks = plan.attacks.map((planned, index) => {
            const proof = attackKindOf(planned.attack).proof(planned.attack);
            const { targets, peers } = chosen[index]!;
            const label = targetLabelFor(plan, planned);
            const witness = new Witness(cluster, plan.namespace, job, label, targets, proof.inward);
            return {
                name: planned.name,
                witness,
                proof: new AttackProof(cluster, proof, { targets, peers }, witness, controlMs),
                deletesPods: proof.deleted === true,
            };
        });
    }

    /**
     * Before the attacks: waits until the Job has looked at all targets, and tries what must fail.
     *
     * @returns how long the slowest control took, or the first inconclusive reason
     * @throws Error if the Job does not start
     */
    async control(): Promise<Control> {
        const controls = await Promise.all(
            this.attacks.map(async ({ witness, proof }) => (await Promise.all([proof.control(), witness.begun()]))[0]),
        );
        const inconclusive = this.firstReason(controls.map(reasonIn));
        if (inconclusive !== undefined) return { inconclusive };
        return { tookMs: Math.max(...controls.map((control) => ("tookMs" in control ? control.tookMs : 0))) };
    }

    /** Waits until each attack works. @returns since when, in the order of the plan, or why that cannot be shown */
    async proven(): Promise<Proven[] | Inconclusive> {
        const outcomes = await Promise.all(this.attacks.map(({ proof }) => proof.attackProven()));
        const inconclusive = this.firstReason(outcomes.map(reasonIn));
        return inconclusive === undefined ? (outcomes as Proven[]) : { inconclusive };
    }

    /**
     * Whether the attacks work until `endMs`, in milliseconds since the epoch, or until `signal` is aborted.
     *
     * @returns why not, as far as is seen
     */
    async hold(
        proven: readonly Proven[],
        endMs: number,
        signal?: AbortSignal,
    ): Promise<InconclusiveReason | undefined> {
        const reasons = this.attacks.map(({ proof }, index) => proof.attackHolds(proven[index]!, endMs, signal));
        return this.firstReason(await Promise.all(reasons));
    }

    /** The pods that the Job has deleted, for each attack. Undefined for attacks that delete none. */
    async kills(): Promise<({ at: number; pod: string; uid: string }[] | undefined)[]> {
        return Promise.all(
            this.attacks.map(async ({ witness, deletesPods }) => {
                if (!deletesPods) return undefined;
                return (await witness.kills()).map(({ at, killed: { pod, uid } }) => ({ at, pod, uid }));
            }),
        );
    }

    /** @param reasons of the attacks, in the order of the plan */
    private firstReason(reasons: readonly (InconclusiveReason | undefined)[]): InconclusiveReason | undefined {
        const index = reasons.findIndex((reason) => reason !== undefined);
        if (index === -1 || this.attacks.length === 1) return reasons[index];
        return `for the attack ${this.attacks[index]!.name}, ${reasons[index]}`;
    }
}

function reasonIn(outcome: object): InconclusiveReason | undefined {
    return "inconclusive" in outcome ? (outcome.inconclusive as InconclusiveReason) : undefined;
}
