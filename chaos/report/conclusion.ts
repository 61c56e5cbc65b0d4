import type { ReasonCode } from "../reasons";
import type { Verdict } from "./verdict";

/** The result of a run, as the stack's output shows it. Times are milliseconds. */
export interface Conclusion {
    /** The experiment's. */
    name: string;
    run: string;
    hypothesis: string;
    /** The kinds of the attacks, comma-separated. */
    attack: string;
    /** `namespace/pod/container` of each. */
    targets: string[];
    verdict: Verdict;
    /** Why it is INCONCLUSIVE or ABORTED: `docs/troubleshooting.md` has an entry for each. Absent otherwise. */
    code?: ReasonCode;
    /** The verdict in a sentence. */
    reason: string;
    /** Number of answers, of all checks. */
    requests: number;
    /** Share of good answers among the counted, as a percentage: `99.5%`. */
    successRate: string;
    /** Since the attack was proven; null if no answer was bad. */
    timeToFirstFailureMs: number | null;
    /** From the proof of the attack until all answers were good; null if the last one was bad. */
    timeToStabilityMs: number | null;
    /** What became of connections that were established before each attack. Absent if an attack is not proven. */
    established?: ConcludedEstablished[];
    /** Pods of which it is not proven that they reach nobody: they have no tool. Absent if there are none. */
    outwardUnproven?: { attack: string; pods: string[] }[];
    /** Result of each check of which it is known whether it held. */
    checks: ConcludedCheck[];
    /** Actions done, in words. */
    actions: string[];
    /** Path of the run's journal; its picture and page are beside it. */
    journal: string;
}

export interface ConcludedEstablished {
    /** Name of the attack. */
    attack: string;
    /** Into the targets. Absent if the attack denies no connections there. */
    direction?: "inward";
    /** `cut after 3 s`, `survived`, `survived until closed after 62 s` or `unknown`. */
    became: string;
    /** Why that is unknown. */
    reason?: string;
}

export interface ConcludedCheck {
    name: string;
    held: boolean;
    /** Number of its answers. */
    requests: number;
    /** Share of good answers among the counted, as a percentage. */
    successRate: string;
}
