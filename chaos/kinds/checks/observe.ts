import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { withoutPeriod } from "../../cluster/problem";
import { pause } from "../../values/async";
import { probesDue } from "../../values/due";
import { milliseconds, shareSchema } from "../../values/texts";
import { abortRuleSchema } from "./abort";
import { type Answer, answerDue, answerSchema } from "./answer";
import type { CheckContext } from "./check-kind";
import { changeLimitSchema } from "./change-limits";
import { confidenceSchema } from "./confidence";
import { checkKindOf, checkSchema } from "./registry";

export const plannedCheckSchema = z.object({
    name: z.string(),
    check: checkSchema,
    intervalMs: milliseconds,
    timeoutMs: milliseconds,
    successRate: shareSchema.optional().describe("Absent if only its drop is limited"),
    limits: z
        .array(changeLimitSchema)
        .nonempty()
        .optional()
        .describe("How much may change from before the attack; absent if nothing is compared"),
    confidence: confidenceSchema.optional().describe("What its answers must show; absent if nothing"),
    abort: abortRuleSchema.optional().describe("When it ends the attacks early; absent if it does not"),
});
/** A check of a plan. Its name is unique in the experiment. */
export type PlannedCheck = z.infer<typeof plannedCheckSchema>;

export const observedSchema = z.object({
    name: z.string(),
    answers: z.array(answerSchema).describe("In the order of asking"),
});
export type Observed = z.infer<typeof observedSchema>;

/** The latency above which an answer is not good, in milliseconds. Undefined if the check reads a state. */
export function latencyLimitOf({ check, timeoutMs }: PlannedCheck): number | undefined {
    const kind = checkKindOf(check);
    return kind.showsLatency && Math.min(timeoutMs, kind.limitMs?.(check) ?? timeoutMs);
}

export function probe({ check, timeoutMs }: PlannedCheck, context: CheckContext): Promise<Answer> {
    return checkKindOf(check).probe(check, context, timeoutMs);
}

/** Such as `/products and POST /orders`. */
export function namesOf({ checks }: { checks: readonly PlannedCheck[] }): string {
    return new Intl.ListFormat("en-GB").format(checks.map(({ name }) => name));
}

/** A check holds after so many good answers in a row. */
export const answersToHold = 3;

/** Runs all checks at once until each holds, or the time is up. */
export async function untilAllHold(
    { checks }: { checks: readonly PlannedCheck[] },
    context: CheckContext,
    timeoutMs: number,
    pauseMs: number,
    signal?: AbortSignal,
): Promise<{ checks: Observed[]; failing: Observed[] }> {
    const giveUpAt = performance.now() + timeoutMs;
    const holds = ({ answers }: Observed) =>
        answers.length >= answersToHold && answers.slice(-answersToHold).every(({ good }) => good);
    const observe = async (check: PlannedCheck) => {
        const observed = { name: check.name, answers: [await probe(check, context)] };
        // After a stall of this machine, the time may be up although nothing has failed.
        const isOpen = ({ answers }: Observed) =>
            answers.length < answersToHold && answers.every(({ good, unseen }) => good || unseen);
        while (!holds(observed) && (performance.now() <= giveUpAt || isOpen(observed)) && !signal?.aborted) {
            await sleep(pauseMs);
            observed.answers.push(await probe(check, context));
        }
        return observed;
    };
    const observed = await Promise.all(checks.map(observe));
    return { checks: observed, failing: observed.filter((one) => !holds(one)) };
}

/** About so many answers of each check are kept of the time before a run and after it. */
const keptAside = 20;

/** Chooses answers evenly, and keeps when they came, how fast and whether they were good, but not why. */
export function keptOf(checks: readonly Observed[]): Observed[] {
    return checks.map(({ name, answers }) => {
        const every = Math.ceil(answers.length / keptAside);
        const kept = answers.filter((_, index) => index % every === 0 || index >= answers.length - answersToHold);
        return {
            name,
            answers: kept.map(({ at, latencyMs, good, unseen }) => ({
                at,
                latencyMs,
                good,
                ...(unseen && { unseen }),
            })),
        };
    });
}

/** The last problem of each failing check, without a period at the end. */
export function problemsOf(failing: readonly Observed[]): string {
    const problems = failing.map(
        ({ name, answers }) => `${name}: ${answers.findLast(({ good }) => !good)?.problem ?? "fails sometimes"}`,
    );
    return withoutPeriod(problems.join("; "));
}

/** After a shorter stall, in milliseconds, what is sent at once counts. */
const crowdedMs = 100;

/** As many probes as are due in `lengthMs`, from the first that is due at `from` or later, in `performance.now()`. */
export interface AskedWindow {
    from: number;
    lengthMs: number;
}

/**
 * Asks every `intervalMs` from the start, even if earlier answers are missing, since slow answers must not lower the
 * rate. The time limit of a probe bounds how many are. What this machine did not send when it was due is not sent later
 * in a burst; see `answerDue`.
 *
 * @param window how long it asks, from now, in milliseconds; or a window that is known later: until then it asks on
 * @param limitMs see `answerDue`
 * @param onAnswer gets the answers of the window, in the order of asking: a late one delays those after it
 * @param signal ends the asking early; what was asked by then is awaited
 * @returns the answers of the window
 */
export async function askThrough(
    ask: () => Promise<Answer>,
    window: number | Promise<AskedWindow>,
    intervalMs: number,
    { limitMs, onAnswer, signal }: { limitMs?: number; onAnswer?: (answer: Answer) => void; signal?: AbortSignal } = {},
): Promise<Answer[]> {
    const begun = performance.now();
    /** All of them, until the window is known. */
    const asked: Promise<Answer>[] = [];
    const answers: Promise<Answer>[] = [];
    let reported = Promise.resolve();
    // Numbers of the window's first probe and of the one after its last, and the window's end.
    let [first, all, end] = [0, Infinity, Infinity];
    let begunAt: number | undefined;
    const know = ({ from, lengthMs }: AskedWindow) => {
        first = Math.max(0, probesDue(from - begun, intervalMs));
        all = first + probesDue(lengthMs, intervalMs);
        end = from + lengthMs;
        // The clock may have been set since.
        begunAt = Math.round(Date.now() - (performance.now() - begun));
        asked.forEach(take);
    };
    const take = (answer: Promise<Answer>, number: number) => {
        if (number < first || number >= all) return;
        const at = begunAt! + Math.round(number * intervalMs);
        const dated = answer.then((given) => ({ ...given, at }));
        answers.push(dated);
        reported = Promise.all([dated, reported]).then(([given]) => onAnswer?.(given));
    };
    if (typeof window === "number") know({ from: begun, lengthMs: window });
    else void window.then(know);
    // Three or more that are sent at once after a stall are not the load of the check, so they may fail for that.
    let crowdMs: number | undefined;
    for (let number = 0; number < all; number++) {
        const due = number * intervalMs;
        const wait = begun + due - performance.now();
        if (wait > 0) await pause(wait, signal);
        if (signal?.aborted || number >= all) break;
        const lateMs = Math.max(0, performance.now() - begun - due);
        const isBehind = limitMs !== undefined && lateMs >= Math.max(2 * intervalMs, crowdedMs);
        if (isBehind) crowdMs ??= lateMs;
        // One that is sent by itself, when it is due, counts, even before those are answered.
        else if (wait > 0) crowdMs = undefined;
        const answer = answerDue(ask, { at: Math.round(Date.now() - lateMs), lateMs, crowdMs }, limitMs);
        if (begunAt === undefined) asked.push(answer);
        else take(answer, number);
    }
    const rest = end - performance.now();
    if (rest > 0) await pause(rest, signal);
    await reported;
    return Promise.all(answers);
}
