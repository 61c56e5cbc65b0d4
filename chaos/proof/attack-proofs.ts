import { attackKindOf } from "../attacks/registry";
import type { Cluster } from "../cluster/client";
import type { Plan, RunAttack } from "../definition/plan";
import { AttackProof } from "./attack-proof";
import { type Established, whyEstablishedNotCut } from "./established";
import { decisive, reason, type Reason } from "../reasons";
import type { Baseline, Inconclusive, Proven } from "./outcome";
import { PositiveControl } from "./positive-control";
import { Witness } from "./witness";

/** A network may take so long to enforce the policies that admit the witness. kube-router takes a second. */
const policedMs = 15_000;

interface Proving {
    name: string;
    proof: AttackProof;
    witness: Witness;
    deletesPods: boolean;
    /** Whether established connections must be cut. */
    wantsCut: boolean;
}

export interface AttackProofsArgs {
    cluster: Cluster;
    plan: Plan;
    /** Name of the deadline Job. */
    job: string;
    attacks: readonly RunAttack[];
    /** How long the slowest baseline took. @default the baselines' time limit */
    baselineMs?: number;
    /** Parts of the positive controls that did not work before the attacks. @default none */
    leftOut?: readonly string[];
    /**
     * Whether other policies are in the namespace. Then a network may take a while to let the witness through, before
     * the attacks. @default false
     */
    isPoliced?: boolean;
}

/** Proves all attacks of an experiment at once. If one is not proven, nothing is known. */
export class AttackProofs {
    private readonly attacks: Proving[];

    constructor(private readonly args: AttackProofsArgs) {
        const { cluster, job, baselineMs, leftOut } = args;
        const allAttacked = new Set(args.attacks.flatMap(({ chosen }) => chosen.targets.map(({ uid }) => uid)));
        this.attacks = args.attacks.map((one) => {
            const { namespace, label: targetLabel, chosen } = one;
            const kind = attackKindOf(one.attack);
            const proof = kind.proof(one.attack);
            const { targets, peers } = chosen;
            const { hit, spared: ofOthers } = kind.reported?.(one) ?? {};
            const { inward } = proof;
            const witness = new Witness({ cluster, namespace, job, targetLabel, targets, inward, hit });
            // Another attack may cut off a peer.
            const spared = peers?.filter(({ uid }) => !allAttacked.has(uid));
            const allowed = { targets, peers: spared };
            const positive = new PositiveControl({
                cluster,
                proof,
                chosen: allowed,
                witness,
                leftOut,
                spared: ofOthers,
            });
            return {
                name: one.name,
                witness,
                proof: new AttackProof({
                    cluster,
                    proof,
                    chosen,
                    witness,
                    baselineMs,
                    positive,
                    explain: kind.explain && (() => kind.explain!(one, cluster, job)),
                }),
                deletesPods: proof.deleted === true,
                wantsCut: one.established === "cut",
            };
        });
    }

    /** How long the witness may take to be let through, in milliseconds. */
    private get patienceMs(): number {
        return this.args.isPoliced ? policedMs : 0;
    }

    /**
     * Before the attacks: waits until the Job has looked at all targets, and tries what must fail.
     *
     * @returns how long the slowest baseline took, or the reason that counts
     * @throws Error if the Job does not start
     */
    async baseline(): Promise<Baseline> {
        const baselines = await Promise.all(
            this.attacks.map(async ({ witness, proof }) => {
                const [baseline] = await Promise.all([proof.baseline(this.patienceMs), witness.begun(this.patienceMs)]);
                return baseline;
            }),
        );
        const inconclusive = this.decided(baselines.map(reasonIn));
        if (inconclusive !== undefined) return { inconclusive };
        const done = baselines.filter((baseline) => "tookMs" in baseline);
        const leftOut = done.flatMap((baseline) => baseline.leftOut ?? []);
        return { tookMs: Math.max(...done.map(({ tookMs }) => tookMs)), ...(leftOut.length > 0 && { leftOut }) };
    }

    /** Waits until each attack works. @returns since when, in the order of the plan, or why that cannot be shown */
    async proven(): Promise<Proven[] | Inconclusive> {
        const outcomes = await Promise.all(this.attacks.map(({ proof }) => proof.attackProven()));
        const inconclusive = this.decided(outcomes.map(reasonIn));
        return inconclusive === undefined ? (outcomes as Proven[]) : { inconclusive };
    }

    /**
     * Whether the attacks work until `endMs`, in milliseconds since the epoch, or until `signal` is aborted.
     *
     * @returns why not, as far as is seen
     */
    async whyNotHeld(proven: readonly Proven[], endMs: number, signal?: AbortSignal): Promise<Reason | undefined> {
        const reasons = this.attacks.map(({ proof }, index) => proof.whyNotHeld(proven[index]!, endMs, signal));
        return this.decided(await Promise.all(reasons));
    }

    /** What became of connections that were established before the attacks, in the order of the plan. */
    async established(proven: readonly Proven[]): Promise<Established[]> {
        return Promise.all(this.attacks.map(({ witness }, index) => witness.established(proven[index]!)));
    }

    /** Why an attack that wants established connections cut is not proven. Undefined if they are. */
    whyEstablishedNotCut(established: readonly Established[]): Reason | undefined {
        return this.decided(
            this.attacks.map(({ wantsCut }, index) =>
                wantsCut ? whyEstablishedNotCut(established[index]!, this.args.plan) : undefined,
            ),
        );
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
    private decided(reasons: readonly (Reason | undefined)[]): Reason | undefined {
        if (this.attacks.length === 1) return reasons[0];
        const named = ({ code, message }: Reason, name: string) => reason(code, `for the attack ${name}, ${message}`);
        return decisive(reasons.map((one, index) => one && named(one, this.attacks[index]!.name)));
    }
}

function reasonIn(outcome: object): Reason | undefined {
    return "inconclusive" in outcome ? (outcome.inconclusive as Reason) : undefined;
}
