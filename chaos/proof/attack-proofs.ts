import type { Counts } from "../kinds/attacks/counted";
import type { UsageReport } from "../kinds/attacks/stress/usage";
import { attackKindOf } from "../kinds/attacks/registry";
import type { Cluster } from "../cluster/client";
import type { Plan, RunAttack } from "../definition/plan";
import { explainWorking } from "./allowing-policies";
import { AttackProof } from "./attack-proof";
import { type Established, whyEstablishedNotCut } from "./established";
import { decisive, reason, type Reason, type ReasonCode, ReasonError } from "../values/reasons";
import { enforcementTimeoutMs } from "../policies/enforcement";
import { protocols } from "../policies/rules";
import { busyMs, type Proven } from "./outcome";
import { whyPeersChanged } from "./targets-there";

/** What to do about an attack that could not be proven. */
const adviceOn: Partial<Record<ReasonCode, string>> = {
    "baseline-failed": "Choose targets and ports at which this works, or repair it",
    "no-port": "Declare the ports of the targets or their peers, or choose others",
};

/** An attack of a run, and what is shown of it. */
export interface ShownAttack extends RunAttack {
    /** Since when it works. Absent if an attack of the run is not proven. */
    proven?: Proven;
    /** What became of connections that were established before it. Absent as `proven` is. */
    became?: Established;
    /** Between two tries of the same from within, as of `FromWithin`. Absent if there was none. */
    longestGapMs?: number;
    /** The pods that the Job has deleted. Absent if the attack deletes none. */
    kills?: { at: number; pod: string; uid: string }[];
    /** The pods whose eviction was refused, and why. Absent as `kills` is. */
    refused?: { at: number; pod: string; uid: string; problem: string }[];
    /** What its containers have used. Absent if it stresses none. */
    usage?: UsageReport[];
    /** What it has counted. Absent if it counts nothing, or that is not known. */
    counts?: Counts;
}

interface Proving {
    shown: ShownAttack;
    proof: AttackProof;
}

export interface AttackProofsArgs {
    cluster: Cluster;
    plan: Plan;
    /** Name of the deadline Job. */
    job: string;
    attacks: readonly RunAttack[];
    /** As of `AttackProofArgs`, of all attacks. @default the baselines' time limit */
    slowestProbeMs?: number;
    /** As of `AttackProofArgs`. @default false */
    isSinceTries?: boolean;
    /**
     * Whether other policies are in the namespace. Then a network may take a while to let the witness through, before
     * the attacks. @default false
     */
    isPoliced?: boolean;
}

/** Proves all attacks of an experiment at once. If one is not proven, nothing is known. */
export class AttackProofs {
    private readonly attacks: readonly Proving[];

    constructor(private readonly args: AttackProofsArgs) {
        const { cluster, job, slowestProbeMs, isSinceTries } = args;
        const allAttacked = new Set(args.attacks.flatMap(({ chosen }) => chosen.targets.map(({ uid }) => uid)));
        this.attacks = args.attacks.map((one) => {
            const { namespace, run, label: targetLabel, chosen } = one;
            const kind = attackKindOf(one.attack);
            const { peers } = chosen;
            return {
                shown: { ...one },
                proof: new AttackProof({
                    cluster,
                    run,
                    namespace,
                    job,
                    targetLabel,
                    proof: kind.proof(one.attack),
                    chosen,
                    // Another attack may cut off a peer.
                    spared: peers?.filter(({ uid }) => !allAttacked.has(uid)),
                    reported: kind.reported?.(one),
                    slowestProbeMs,
                    isSinceTries,
                    explain: kind.explain && (() => kind.explain!(one, cluster, job)),
                    whyPeersChanged: peers && (() => whyPeersChanged(cluster, args.plan, one)),
                }),
            };
        });
    }

    /** The attacks, in the order of the plan, and what was shown of them so far. */
    get shown(): readonly ShownAttack[] {
        return this.attacks.map(({ shown }) => shown);
    }

    /**
     * Before the attacks: waits until the Job has tried all targets, and tries what must fail.
     *
     * @returns how long the slowest baseline took, and the attacks, with what does not work even now
     * @throws ReasonError if an attack could not be proven
     * @throws Error if the Job does not start
     */
    async baseline(): Promise<{ tookMs: number; attacks: readonly RunAttack[] }> {
        const patienceMs = this.args.isPoliced ? enforcementTimeoutMs : busyMs;
        let tookMs = 0;
        const why = await this.decided(async ({ proof, shown }) => {
            const baseline = await proof.baseline(patienceMs);
            if ("code" in baseline) return baseline;
            tookMs = Math.max(tookMs, baseline.tookMs);
            if (baseline.leftOut.length > 0) shown.chosen = { ...shown.chosen, leftOut: baseline.leftOut };
        });
        if (why !== undefined) throw new ReasonError(why.code, why.message, adviceOn[why.code] ?? "Start another run");
        return { tookMs, attacks: this.shown };
    }

    /** Waits until each attack works. @returns why that cannot be shown */
    async prove(): Promise<Reason | undefined> {
        const notProven = await this.decided(async ({ proof, shown }) => {
            const outcome = await proof.attackProven();
            if ("code" in outcome) return outcome;
            shown.proven = outcome;
        });
        if (notProven !== undefined) for (const { shown } of this.attacks) delete shown.proven;
        return notProven;
    }

    /**
     * Whether the attacks work until `endMs`, in milliseconds since the epoch, or until `signal` is aborted.
     *
     * @returns why not, as far as is seen
     */
    whyNotHeld(endMs: number, signal?: AbortSignal): Promise<Reason | undefined> {
        return this.decided(async ({ proof, shown }) => {
            const why = await proof.whyNotHeld(shown.proven!, endMs, signal);
            shown.longestGapMs = proof.longestGapMs;
            return why;
        });
    }

    /** Why an attack is over, as far as that is seen now: see `AttackProof`. */
    whyLost(): Promise<Reason | undefined> {
        return this.decided(({ proof, shown }) => proof.whyLost(shown.proven!));
    }

    /**
     * Why another NetworkPolicy may allow what an attack denies: since the attack began, somebody has created it, or
     * restored its selector, or changed the labels of a target. The witness meets only what lets itself through.
     */
    whyAllowed(): Promise<Reason | undefined> {
        return this.decided(({ shown: { attack, chosen, run } }) => {
            const denial = attackKindOf(attack).denies?.(attack);
            if (denial === undefined) return undefined;
            const { ways, ports, protocols: denied = ["TCP", "UDP"] } = denial;
            const working = { ways, ports, protocols: ports ? denied : protocols, with: "unknown" as const };
            return explainWorking(this.args.cluster, run, chosen.targets, working);
        });
    }

    /** Finds out what became of connections that were established before the attacks. */
    async seeEstablished(): Promise<void> {
        for (const { proof, shown } of this.attacks) shown.became = await proof.established(shown.proven!);
    }

    /** Why an attack that wants established connections cut is not proven. Undefined if they are. */
    whyEstablishedNotCut(): Promise<Reason | undefined> {
        return this.decided(({ shown: { established, became } }) =>
            established === "cut" && became ? whyEstablishedNotCut(became, this.args.plan) : undefined,
        );
    }

    /** Finds out which pods the Job has deleted. */
    async seeKills(): Promise<void> {
        for (const { proof, shown } of this.attacks)
            if (attackKindOf(shown.attack).proof(shown.attack).deleted) Object.assign(shown, await proof.kills());
    }

    /** Finds out what the containers have used that the Job has stressed. */
    async seeUsage(): Promise<void> {
        for (const { proof, shown } of this.attacks) {
            const usage = await proof.usage();
            if (usage.length > 0) shown.usage = usage;
        }
    }

    /** The reason that counts, of those of all attacks. */
    private async decided(
        whyNot: (one: Proving) => Promise<Reason | undefined> | Reason | undefined,
    ): Promise<Reason | undefined> {
        const reasons = this.attacks.map(async (one) => {
            const found = await whyNot(one);
            if (this.attacks.length === 1 || found === undefined) return found;
            return reason(found.code, `for the attack ${one.shown.name}, ${found.message}`);
        });
        return decisive(await Promise.all(reasons));
    }
}
