import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Attack } from "./attacks/attack";
import type { Answer } from "./checks/products";
import type { Plan } from "./plan";
import type { Target } from "./targets/discover";
import type { Verdict } from "./verdict";

/** What a run came to, as the stack's output shows it. Times are milliseconds since the attack took hold. */
export interface Conclusion {
    name: string;
    run: string;
    hypothesis: string;
    attack: Attack["kind"];
    /** `namespace/pod/container` of each. */
    targets: string[];
    verdict: Verdict;
    /** The verdict in a sentence. */
    reason: string;
    requests: number;
    /** Share of good answers among those counted, as a percentage. */
    successRate: string;
    timeToFirstFailureMs: number | null;
    timeToStabilityMs: number | null;
    /** The run's journal, below the project. */
    journal: string;
}

/** All that a run saw, kept as a file. Times are milliseconds since the epoch unless they say otherwise. */
export interface Journal {
    schema: 1;
    plan: Plan;
    conclusion: Conclusion;
    startedAt: number;
    /** When the first fresh connection to a target failed; absent where none did. */
    attackedAt?: number;
    endedAt: number;
    targets: Target[];
    answers: Answer[];
}

/** Where a run's journal goes: `reports/hot-deals-blackhole-1-20261121T101500Z.json`. */
export function journalPath({ experiment, run }: Plan, startedAt: number): string {
    const time = new Date(startedAt).toISOString().replace(/[-:]|\.\d+/g, "");
    const readableRun = run.replace(/[^\w.-]+/g, "-").slice(0, 40);
    return join("reports", `${experiment}-${readableRun}-${time}.json`);
}

export function keepJournal(journal: Journal): void {
    mkdirSync("reports", { recursive: true });
    writeFileSync(journal.conclusion.journal, `${JSON.stringify(journal, undefined, 2)}\n`);
}
