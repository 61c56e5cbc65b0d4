import { describeChange, outcomesOf } from "../kinds/checks/change-limits";
import { isAttack } from "../definition/plan";
import type { Outcome } from "../values/compared";
import { describeMilliseconds } from "../values/duration";
import { colors, label, line, margin, rect, round, width, widthOf } from "./drawing";
import type { Journal } from "./journal-schema";
import { element, escape } from "./markup";

const style = `
    .distributions {
        ${colors.light} --before: #8fb8a8; --during: #c2410c;
        background: var(--paper); font: 13px system-ui, sans-serif; width: 100%; height: auto;
    }
    @media screen and (prefers-color-scheme: dark) {
        .distributions { ${colors.dark} --before: #3f8a70; --during: #ff9a62; }
    }
    .distributions .paper { fill: var(--paper); }
    .distributions text { fill: var(--ink); }
    .distributions .faint { fill: var(--faint); }
    .distributions .line { stroke: var(--line); }
    .distributions .before { fill: var(--before); }
    .distributions .during { fill: none; stroke: var(--during); stroke-width: 2; }
    .distributions .mark { stroke: var(--ink); stroke-dasharray: 4 4; }`;

/** In pixels. Below the bars are the latencies. */
const heights = { heading: 60, bars: 120, axis: 30 };
/** Of a decade: each is a quarter wider than the one before. */
const binsPerDecade = 10;

/** A check that is compared with before the attack, and its answers. */
interface Compared {
    name: string;
    before: readonly Outcome[];
    during: readonly Outcome[];
    /** In words: under attack, or without one. */
    when: string;
    changes: string[];
}

function comparedOf({ baseline = [], checks, plan, startedAt, attackedAt, conclusion }: Journal): Compared[] {
    const from = (attackedAt ?? startedAt) + plan.window.graceMs;
    return baseline.map(({ name, outcomes: before }) => {
        const { answers = [] } = checks.find((one) => one.name === name) ?? {};
        const { changes = [] } = conclusion.checks.find((one) => one.name === name) ?? {};
        const when = isAttack(plan) ? "under attack" : "in the window";
        const during = outcomesOf(answers.filter(({ at }) => at >= from));
        return { name, before, during, when, changes: changes.map((change) => describeChange(change, when)) };
    });
}

/** What a comparison assumes, for the page. */
export const assumptions = (underAttack: boolean): string =>
    (underAttack ? "Filled: before the attack; outlined: under it. " : "Filled: before the window; outlined: in it. ") +
    "A bad answer counts as slower than all good ones. " +
    `The bounds assume that nothing ${underAttack ? "but the attack " : ""}has changed in between. ` +
    "They need no assumption about the distribution; where slow or bad answers lie unevenly, answers count as fewer. " +
    "Few or long bursts are not seen enough.";

/** How the latencies of compared checks are distributed, before the attack and under it, one over the other. */
export const distributionsSvgs = (journal: Journal): string[] => comparedOf(journal).map(distributionsSvg);

function distributionsSvg({ name, before, during, when, changes }: Compared, index: number): string {
    const { least, most } = rangeOf([...before, ...during]);
    const decades = Math.log10(most / least);
    const bins = Math.round(decades * binsPerDecade);
    const [left, right] = [margin.left, width - margin.right];
    const x = (latencyMs: number) => left + (Math.log10(Math.max(least, latencyMs) / least) / decades) * (right - left);
    const [top, bottom] = [heights.heading, heights.heading + heights.bars];
    const shares = [before, during].map((outcomes) => sharesOf(outcomes, least, bins));
    const highest = Math.max(...shares.flat(), 0.01);
    const y = (share: number) => bottom - (share / highest) * heights.bars;
    const [filled, outlined] = shares as [number[], number[]];
    const binX = (bin: number) => left + (bin / bins) * (right - left);
    const outline = outlined.flatMap((share, bin) => [
        `${round(binX(bin))},${round(y(share))}`,
        `${round(binX(bin + 1))},${round(y(share))}`,
    ]);
    const of = [`before: ${describeOutcomes(before)}`, `${when}: ${describeOutcomes(during)}`];
    const [titleId, descriptionId] = [`distributions-${index}`, `distributions-${index}-words`];
    return element(
        "svg",
        {
            xmlns: "http://www.w3.org/2000/svg",
            class: "distributions",
            viewBox: `0 0 ${width} ${bottom + heights.axis}`,
            role: "img",
            "aria-labelledby": `${titleId} ${descriptionId}`,
        },
        [
            element("title", { id: titleId }, [escape(`Latencies of ${name}`)]),
            element("desc", { id: descriptionId }, [escape([...of, ...changes].join("; "))]),
            element("style", {}, [style]),
            rect("paper", 0, 0, width, bottom + heights.axis),
            label(left, 15, name),
            ...of.map((text, index) => label(left, 32 + 16 * index, text, "faint")),
            label(left - 8, top + 4, `${round(highest * 100)}%`, "faint", "end"),
            label(left - 8, bottom + 4, "0%", "faint", "end"),
            line("line", left, bottom, right, bottom),
            ...filled.map((share, bin) =>
                rect("before", binX(bin), y(share), binX(bin + 1) - binX(bin), bottom - y(share)),
            ),
            element("polyline", { class: "during", points: outline.join(" ") }),
            ...ticks(least, most).map((latencyMs) =>
                label(x(latencyMs), bottom + 18, describeTick(latencyMs), "faint", "middle"),
            ),
        ],
    );
}

const describeTick = (latencyMs: number) => (latencyMs < 1_000 ? `${latencyMs} ms` : `${latencyMs / 1_000} s`);

/**
 * Such as `600 answers, 4 bad; of the good ones: median 12 ms, 95% within 31 ms`. The verdict counts bad ones as slower
 * than all others, so its quantiles are other ones.
 */
function describeOutcomes(outcomes: readonly Outcome[]): string {
    const latencies = latenciesIn(outcomes).sort((a, b) => a - b);
    const within = (share: number) => describeMilliseconds(latencies[Math.ceil(share * latencies.length) - 1]!);
    const others = (["bad", "unseen"] as const).flatMap((what) => {
        const count = outcomes.filter((outcome) => outcome === what).length;
        return count === 0 ? [] : [`${count} ${what}`];
    });
    const counts = [`${outcomes.length} answers`, ...others].join(", ");
    if (latencies.length === 0) return counts;
    const figures = `median ${within(0.5)}, 95% within ${within(0.95)}`;
    return `${counts}${others.length > 0 ? "; of the good ones" : ""}: ${figures}`;
}

const latenciesIn = (outcomes: readonly Outcome[]): number[] =>
    outcomes.flatMap((outcome) =>
        typeof outcome === "object" ? outcome.latencyMs : typeof outcome === "number" ? outcome : [],
    );

/** The shares of all answers in each bin. Those of bad and unseen ones are in none. */
function sharesOf(outcomes: readonly Outcome[], least: number, bins: number): number[] {
    const counts = new Array<number>(bins).fill(0);
    for (const latencyMs of latenciesIn(outcomes)) {
        const bin = Math.floor(Math.log10(Math.max(least, latencyMs) / least) * binsPerDecade + 1e-9);
        counts[Math.min(bins - 1, bin)]!++;
    }
    return counts.map((count) => count / Math.max(1, outcomes.length));
}

/** Whole decades around some latencies. */
function rangeOf(outcomes: readonly Outcome[]): { least: number; most: number } {
    const latencies = latenciesIn(outcomes).map((ms) => Math.max(1, ms));
    if (latencies.length === 0) return { least: 1, most: 10 };
    const [fastest, slowest] = latencies.reduce(([low, high], ms) => [Math.min(low, ms), Math.max(high, ms)] as const, [
        Infinity,
        0,
    ] as readonly [number, number]);
    const least = 10 ** Math.floor(Math.log10(fastest));
    return { least, most: Math.max(10 * least, 10 ** Math.ceil(Math.log10(slowest + 1))) };
}

/** Whole decades, with 2 and 5 between them if there is room. */
function ticks(least: number, most: number): number[] {
    const each = [1, 2, 5].flatMap((digit) => {
        const found: number[] = [];
        for (let decade = least; decade <= most; decade *= 10) if (digit * decade <= most) found.push(digit * decade);
        return found;
    });
    const areTooMany = each.length * widthOf("1000 ms") > width - margin.left - margin.right;
    return areTooMany ? each.filter((ms) => Number.isInteger(Math.log10(ms / least))) : each;
}
