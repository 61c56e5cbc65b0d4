import { setTimeout as sleep } from "node:timers/promises";
import type { Conclusion } from "../../chaos/report/conclusion";
import { plainError } from "../../chaos/cli/plain-error";
import { until } from "../support/until";
import { judge } from "./judge";
import type { Course, Kind, Outcome, Run, Trial } from "./kind";
import { between } from "./random";
import { provenForMs, type Shop, windowOf } from "./shop";

type Undo = () => Promise<unknown>;

const nameOf = ({ kind, denied, round }: Trial) => `${kind} ${denied} ${round}`;

/** An update with the experiment, which is disturbed, and one without. Then nothing of it may be left. */
export const complete: Course = async (shop, kind, trial) => {
    const problems: string[] = [];
    const undos = { atOnce: [] as Undo[], undone: [] as Undo[] };
    const putRight = async (works: Undo[]) => {
        for (const undo of works.reverse())
            await undo().catch((error: unknown) => problems.push(`the trouble was not put right: ${String(error)}`));
    };
    const over = new AbortController();
    const run = runOf(shop, kind, trial, over.signal, undos);
    let outcome: Outcome = "none";
    let reason = "";
    let saw = "";
    let leftovers: string[] = [];
    const journals: string[] = [];
    try {
        await kind.before?.(run);
        shop.stack.said = "";
        const updating = shop.enable(nameOf(trial), kind, trial.cancel).finally(() => over.abort());
        const [updated, disturbed] = await Promise.allSettled([updating, kind.trouble?.(run)]);
        if (updated.status === "fulfilled") {
            const { verdict, reason: said, journal }: Conclusion = updated.value;
            [outcome, reason] = [verdict, said];
            journals.push(journal);
        } else reason = plainError(updated.reason);
        const effect = disturbed.status === "fulfilled" ? disturbed.value : undefined;
        if (effect) saw = effect.saw;
        if (disturbed.status === "rejected") problems.push(`it was not disturbed: ${whyNot(disturbed.reason)}`);
        problems.push(...(effect?.problems ?? []));
        problems.push(...[judge(kind.allowed, outcome, reason, effect)].filter((problem) => problem !== undefined));
    } finally {
        await putRight(undos.atOnce);
        leftovers = await undone(shop, problems).finally(() => putRight(undos.undone));
    }
    return { outcome, reason, saw, problems, leftovers, journals };
};

/** Undoes the experiment. @param problems get what is wrong afterwards @returns what is left */
async function undone(shop: Shop, problems: string[]): Promise<string[]> {
    problems.push(...(await shop.disable()));
    const leftovers = await shop.leftovers();
    problems.push(...(await shop.brokenBecause()));
    return leftovers;
}

function whyNot(error: unknown): string {
    return error instanceof Error && error.name === "AbortError" ? "the run ended before" : plainError(error);
}

function runOf(
    shop: Shop,
    kind: Kind,
    trial: Trial,
    over: AbortSignal,
    undos: { atOnce: Undo[]; undone: Undo[] },
): Run {
    const { stack } = shop;
    const { graceMs, durationMs } = windowOf(kind);
    const signal = AbortSignal.any([over, trial.signal]);
    let provenAt = 0;
    return {
        stack,
        random: trial.random,
        signal,
        async moment({ afterGrace = false, leaveMs = 0 } = {}) {
            const lastMs = graceMs + durationMs - provenForMs - leaveMs;
            const share = between(trial.random, afterGrace ? graceMs : 0, lastMs);
            const proven = async () => {
                signal.throwIfAborted();
                return stack.said.includes("Proven: ");
            };
            await until("the attack is proven", proven, { timeoutMs: 120_000, pauseMs: 50 });
            provenAt = performance.now();
            await sleep(share, undefined, { signal });
        },
        leftMs: () => provenAt + graceMs + durationMs - provenForMs - performance.now(),
        afterwards: (work, { undone = false } = {}) => void (undone ? undos.undone : undos.atOnce).push(work),
        ended: new Promise((resolve) => over.addEventListener("abort", () => resolve(), { once: true })),
        attackLeft: async (patienceMs) => (trial.signal.aborted ? [] : shop.attackLeft(patienceMs)),
    };
}
