import * as z from "zod";
import { describeBound, usualLevel } from "../../values/bound";
import { type Change, type ChangeLimit, type Outcome, type Quantile, quantiles } from "../../values/compared";
import { describeExactly, describeMilliseconds, parseDuration } from "../../values/duration";
import { type Rounding, roundedUntil } from "../../values/rounded";
import { describeShare, parsePercentage, type Share } from "../../values/share";
import { instant, milliseconds, notAllowed, notAnObject, shareSchema } from "../../values/texts";
import type { Answer } from "./answer";

/** How much slower answers may be than before the attack: of each quantile, `atMost`. */
export interface LatencySettings {
    /** Of the median. @default no limit */
    p50?: LatencyLimit;
    /** Of the 95th percentile. @default no limit */
    p95?: LatencyLimit;
    /** Of the 99th percentile. @default no limit */
    p99?: LatencyLimit;
}

export interface LatencyLimit {
    /** A factor, such as `2x`, or a time more, such as `+200ms`. */
    atMost: string;
}

/** How much lower the success rate may be than before the attack. */
export interface RateSettings {
    /** Such as `1%`: the upper bound of the drop, with 95% confidence, must be at most 1%. */
    dropAtMost: string;
}

const names = Object.keys(quantiles) as Quantile[];

export const allowedLatencyLimit = "a factor from 1x to 1000x, such as 2x, or a time more, such as +200ms";

/** @returns undefined if the text is neither */
function parseLatencyLimit(text: string): { atMostTimes: number } | { atMostMoreMs: number } | undefined {
    const [, factor, time] = /^(?:(\d+(?:\.\d+)?)x|\+(\S+))$/.exec(text) ?? [];
    if (factor !== undefined) return inRange(Number(factor)) ? { atMostTimes: Number(factor) } : undefined;
    const milliseconds = time === undefined ? undefined : parseDuration(time);
    return milliseconds ? { atMostMoreMs: milliseconds } : undefined;
}

const inRange = (factor: number) => factor >= 1 && factor <= 1_000;

const notALimit = notAllowed(allowedLatencyLimit, "a limit");
const latencyLimit = z.strictObject(
    {
        atMost: z
            .string({ error: notALimit })
            .refine((text) => parseLatencyLimit(text) !== undefined, { error: notALimit }),
    },
    { error: notAnObject('{ atMost: "2x" }') },
);

export const latencySchema = z
    .strictObject(
        { p50: latencyLimit.optional(), p95: latencyLimit.optional(), p99: latencyLimit.optional() },
        { error: notAnObject('{ p95: { atMost: "2x" } }') },
    )
    .refine((limits) => names.some((name) => limits[name] !== undefined), {
        error: 'is empty; allowed: p50, p95 or p99, such as { p95: { atMost: "2x" } }',
        when: ({ issues }) => issues.length === 0,
    });

const allowedDrop = "a percentage from 0.1% and below 100%";
const notADrop = notAllowed(allowedDrop, "a drop");
const rateSettingsSchema = z.strictObject({
    dropAtMost: z.string({ error: notADrop }).refine(
        (text) => {
            const share = parsePercentage(text) ?? 0;
            return share >= 0.001 && share < 1;
        },
        { error: notADrop },
    ),
});

const notARate = notAllowed(`a number above 0 and up to 1, or { dropAtMost: "1%" } with ${allowedDrop}`);
export const successRateSchema = z.union([z.number().positive().max(1), rateSettingsSchema], { error: notARate });

const quantile = z.enum(names as [Quantile, ...Quantile[]]);
export const changeLimitSchema = z.union([
    z.object({ of: quantile, atMostTimes: z.number() }),
    z.object({ of: quantile, atMostMoreMs: z.number() }),
    z.object({ of: z.literal("successRate"), atMostLess: shareSchema }),
]) satisfies z.ZodType<ChangeLimit>;

/** @param settings valid ones */
export const latencyLimitsOf = (settings: LatencySettings): ChangeLimit[] =>
    names.flatMap((of) => (settings[of] ? { of, ...parseLatencyLimit(settings[of].atMost)! } : []));

/**
 * As a stack's setting has them: `p95=2x,p99=+200ms`.
 *
 * @returns undefined if the text is not that
 * @throws Error if one is there twice
 */
export function parseLatencyLimits(text: string): ChangeLimit[] | undefined {
    const pairs = text.split(",").map((part) => part.trim().split("="));
    const settings = Object.fromEntries(pairs.map(([name, atMost]) => [name, { atMost }])) as unknown;
    const { success, data } = latencySchema.safeParse(settings);
    if (!success || pairs.some((pair) => pair.length !== 2)) return undefined;
    const twice = pairs.find(([name], index) => pairs.findIndex((pair) => pair[0] === name) < index);
    if (twice !== undefined) throw new Error(`has ${twice[0]} twice; allowed: each of p50, p95 and p99 once`);
    return latencyLimitsOf(data);
}

/** @param usual limits of latencies, if the check has none, and shows them */
export function changeLimitsOf(
    { latency, successRate }: { latency?: LatencySettings; successRate?: Share | RateSettings },
    usual: readonly ChangeLimit[] = [],
): ChangeLimit[] | undefined {
    const limits = [
        ...(latency ? latencyLimitsOf(latency) : usual),
        ...(typeof successRate === "object"
            ? [{ of: "successRate", atMostLess: parsePercentage(successRate.dropAtMost)! } as const]
            : []),
    ];
    return limits.length > 0 ? limits : undefined;
}

/** The success rate that is required whatever it was before. Undefined if only a drop is limited. */
export const requiredRate = (successRate: Share | RateSettings | undefined, usual: Share): Share | undefined =>
    typeof successRate === "object" ? undefined : (successRate ?? usual);

const outcomeSchema = z.union([
    milliseconds,
    z.object({ latencyMs: milliseconds, stalledMs: milliseconds.describe("How much of that this machine was late") }),
    z.literal("bad"),
    z.literal("unseen"),
]) satisfies z.ZodType<Outcome>;

/** The answers of a check from before the attack, as far as those under it are compared with them. */
export const baselineSchema = z.object({
    name: z.string(),
    at: instant.describe("When the first was due"),
    outcomes: z.array(outcomeSchema).describe("Latencies of good answers, in the order of asking; else what there was"),
});
export type Baseline = z.infer<typeof baselineSchema>;

export const outcomesOf = (answers: readonly Answer[]): Outcome[] =>
    answers.map(({ unseen, good, latencyMs, stalledMs }) => {
        if (unseen || !good) return unseen ? "unseen" : "bad";
        return stalledMs === undefined ? latencyMs : { latencyMs, stalledMs };
    });

/** A change, as reports have it. */
export const changeSchema = z.object({
    of: z.string().describe("`p50`, `p95` or `p99` of the latencies, or `successRate`"),
    before: z.string(),
    during: z.string().describe("Of the answers that count"),
    by: z.string().describe("The change: `7.7x`, `+209 ms`, or how much less the success rate is"),
    level: z.string().describe("Confidence of each bound alone, as a percentage; both hold in at least 90% of runs"),
    atLeast: z.string(),
    atMost: z.string(),
    required: z.string().describe("The greatest that is allowed"),
    isWithin: z.boolean().optional().describe("Whether the limit holds; absent if the bounds leave both possible"),
});
export type ConcludedChange = z.infer<typeof changeSchema>;

export function concludedChange(limit: ChangeLimit, change: Change): ConcludedChange {
    const { before, during, by, atLeast, atMost, isWithin } = change;
    const value = (number: number) =>
        limit.of === "successRate" ? describeBound(number, "nearest") : describeLatency(number);
    return {
        of: limit.of,
        before: value(before),
        during: value(during),
        by: describeAmount(limit, by, "nearest"),
        level: describeShare(usualLevel),
        atLeast: describeAmount(limit, atLeast, "down"),
        atMost: describeAmount(limit, atMost, "up"),
        required: describeLimit(limit),
        ...(isWithin !== undefined && { isWithin }),
    };
}

const describeLatency = (milliseconds: number) =>
    milliseconds === Infinity ? "a bad answer" : describeMilliseconds(milliseconds);

/** The shown number is on the same side of the limit as the number itself. */
function describeAmount(limit: ChangeLimit, amount: number, rounding: Rounding): string {
    const most = amountOf(limit);
    const isRight = (shown: number) => shown <= most === amount <= most;
    if ("atMostTimes" in limit) return describeFactor(amount, rounding, isRight);
    if ("atMostMoreMs" in limit && Math.abs(amount) === Infinity)
        return amount < 0 ? "any time less" : rounding === "up" ? "any time more" : beyondAny.time;
    const [sign, size] = [amount < 0 ? "-" : "+", Math.abs(amount)];
    const ofSize = amount < 0 ? opposite[rounding] : rounding;
    const isSizeRight = (shown: number) => isRight(amount < 0 ? -shown : shown);
    if ("atMostMoreMs" in limit) return sign + describeTime(size, ofSize, isSizeRight);
    return (amount < 0 ? "-" : "") + describeBound(size, ofSize, isSizeRight);
}

/** A change from a good answer to a bad one. */
const beyondAny = { factor: "more than any factor", time: "more than any time" } as const;

const opposite = { nearest: "nearest", down: "up", up: "down" } as const satisfies Record<Rounding, Rounding>;

function describeFactor(factor: number, rounding: Rounding, isRight: (shown: number) => boolean): string {
    if (factor === Infinity) return rounding === "up" ? "any factor" : beyondAny.factor;
    // Half as long or a tenth is no 0.
    const isNone = (shown: number) => rounding !== "down" && shown === 0 && factor > 0;
    return `${roundedUntil(factor, factor < 10 ? 1 : 0, rounding, (shown) => isRight(shown) && !isNone(shown))}x`;
}

function describeTime(milliseconds: number, rounding: Rounding, isRight: (shown: number) => boolean): string {
    // Below a second in milliseconds, below a minute in tenths of a second, and else in seconds.
    const places = milliseconds < 1_000 ? 3 : milliseconds < 60_000 ? 1 : 0;
    const inMs = (seconds: number) => Math.round(seconds * 1_000);
    const shown = roundedUntil(milliseconds / 1_000, places, rounding, (seconds) => isRight(inMs(seconds)));
    return describeExactly(inMs(shown));
}

const amountOf = (limit: ChangeLimit): number =>
    "atMostTimes" in limit ? limit.atMostTimes : "atMostLess" in limit ? limit.atMostLess : limit.atMostMoreMs;

/** Such as `2x`, `+200 ms` or `1%`. */
export function describeLimit(limit: ChangeLimit): string {
    if ("atMostTimes" in limit) return `${limit.atMostTimes}x`;
    return "atMostLess" in limit ? describeShare(limit.atMostLess) : `+${describeExactly(limit.atMostMoreMs)}`;
}

/**
 * Such as `p95 31 ms before, 240 ms under attack: 7.7x (95% confidence: at least 5.1x; required: at most 2x)`.
 *
 * @param when completes "240 ms …"
 */
export function describeChange(change: ConcludedChange, when = "under attack"): string {
    const { of, before, during, by, level, atLeast, atMost, required, isWithin } = change;
    // Both bounds hold together less often than each, so the confidence of two is said to be of each.
    const least = Object.values<string>(beyondAny).includes(atLeast) ? atLeast : `at least ${atLeast}`;
    const shown = {
        true: `${level} confidence: at most ${atMost}`,
        false: `${level} confidence: ${least}`,
        undefined: `${level} confidence each: at least ${atLeast}, at most ${atMost}`,
    }[String(isWithin) as "true"];
    const what = of === "successRate" ? "success rate" : of;
    const amount = of === "successRate" ? `a drop of ${by}` : by;
    return `${what} ${before} before, ${during} ${when}: ${amount} (${shown}; required: at most ${required})`;
}
