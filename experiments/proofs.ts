import type { Cluster } from "../shared/kubernetes";
import { kindOf } from "./attacks/attack";
import { markOf, type Plan } from "./plan";
import { AttackProof, type Control, type Doubt, type Proven } from "./proof";
import type { Chosen } from "./targets/chosen";
import { Witness } from "./witness";

/** One attack, and what shows that it works. */
interface Proving {
    name: string;
    proof: AttackProof;
    witness: Witness;
    /** Whether it deletes pods. */
    kills: boolean;
}

/** That all attacks of an experiment work, each proven by itself, all at once: where one is not, nothing is known. */
export class AttackProofs {
    private readonly attacks: Proving[];

    /**
     * @param job name of the deadline's Job
     * @param chosen whom the attacks are for, in the order of the plan
     * @param controlMs how long the slowest control took, once they were made
     */
    constructor(cluster: Cluster, plan: Plan, job: string, chosen: readonly Chosen[], controlMs?: number) {
        this.attacks = plan.attacks.map((attack, index) => {
            const mustFail = kindOf(attack.attack).proof(attack.attack);
            const { targets, peers } = chosen[index]!;
            const witness = new Witness(cluster, plan.namespace, job, markOf(plan, attack), targets, mustFail.inward);
            return {
                name: attack.name,
                witness,
                proof: new AttackProof(cluster, mustFail, { targets, peers }, witness, controlMs),
                kills: mustFail.deleted === true,
            };
        });
    }

    /**
     * Before the attacks: waits until the Job has looked at all targets, and tries what is to fail.
     *
     * @returns how long the slowest took, or the first doubt
     * @throws Error where the Job does not get to it
     */
    async control(): Promise<Control> {
        const controls = await Promise.all(
            this.attacks.map(async ({ witness, proof }) => (await Promise.all([proof.control(), witness.begun()]))[0]),
        );
        const doubt = this.firstDoubt(controls.map(doubtOf));
        return doubt === undefined
            ? { tookMs: Math.max(...controls.map((control) => ("tookMs" in control ? control.tookMs : 0))) }
            : { doubt };
    }

    /** Waits until each attack works; says since when, in the order of the plan, or why that cannot be shown. */
    async proven(): Promise<Proven[] | { doubt: Doubt }> {
        const outcomes = await Promise.all(this.attacks.map(({ proof }) => proof.attackProven()));
        const doubt = this.firstDoubt(outcomes.map(doubtOf));
        return doubt === undefined ? (outcomes as Proven[]) : { doubt };
    }

    /** Whether the attacks work until `endMs`, in milliseconds since the epoch, as far as is seen; else why not. */
    async hold(proven: readonly Proven[], endMs: number): Promise<Doubt | undefined> {
        return this.firstDoubt(
            await Promise.all(this.attacks.map(({ proof }, index) => proof.attackHolds(proven[index]!, endMs))),
        );
    }

    /** The pods that the Job says it has deleted, for each attack; undefined for those that delete none. */
    async kills(): Promise<({ at: number; pod: string; uid: string }[] | undefined)[]> {
        return Promise.all(
            this.attacks.map(async ({ witness, kills }) =>
                kills ? (await witness.kills()).map(({ at, killed: { pod, uid } }) => ({ at, pod, uid })) : undefined,
            ),
        );
    }

    /** @param doubts of the attacks, in the order of the plan */
    private firstDoubt(doubts: readonly (Doubt | undefined)[]): Doubt | undefined {
        const index = doubts.findIndex((doubt) => doubt !== undefined);
        return index === -1 || this.attacks.length === 1
            ? doubts[index]
            : `of the attack ${this.attacks[index]!.name}, ${doubts[index]}`;
    }
}

function doubtOf(outcome: object): Doubt | undefined {
    return "doubt" in outcome ? (outcome.doubt as Doubt) : undefined;
}
