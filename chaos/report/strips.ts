import { type Answer, isStalled } from "../kinds/checks/answer";
import type { Observed } from "../kinds/checks/observe";
import { checkKindOf } from "../kinds/checks/registry";
import { describeMilliseconds } from "../values/duration";
import { greatestOf, leastOf } from "../values/extremes";
import type { Share } from "../values/share";
import { fitted, label, line, margin, relative, round, type TimeAxis, tooltip, width, widthOf } from "./drawing";
import type { Journal } from "./journal-schema";
import { element } from "./markup";

/** In pixels: of a strip's heading, and of what is below it. */
const heights = { heading: 24, onlyLatency: 170, latency: 110, samples: 20 };
/** With more answers than this, the dots of good ones are smaller. */
const many = 150;

export interface Strip {
    name: string;
    answers: readonly Answer[];
    /** Answers before the run and after it. */
    before: readonly Answer[];
    after: readonly Answer[];
    /** The latencies at the bottom and at the top, in milliseconds. Undefined if answers are not drawn by latency. */
    latencies?: { least: number; most: number };
    /** Slower answers are bad, in milliseconds. */
    limitMs?: number;
    top: number;
    bottom: number;
}

/**
 * A strip for each check, one below the other. Checks of one kind share a range of latencies, so they can be compared.
 */
export function stripsOf({ before = [], checks, plan, recovery }: Journal, top: number, gap: number): Strip[] {
    const strips: Strip[] = [];
    const described = checks.map(({ name, answers }) => {
        const { check } = plan.checks.find((planned) => planned.name === name)!;
        const kind = checkKindOf(check);
        const of = (observed: readonly Observed[] = []) => observed.find((one) => one.name === name)?.answers ?? [];
        return { name, answers, before: of(before), after: of(recovery?.checks), kind, limitMs: kind.limitMs?.(check) };
    });
    const shownOf = ({ answers, before, after, limitMs }: (typeof described)[number]) => [
        ...[...before, ...answers, ...after].map(({ latencyMs }) => latencyMs),
        ...(limitMs === undefined ? [] : [limitMs]),
    ];
    for (const { kind, ...one } of described) {
        // How fast the API server or Prometheus answers says nothing about the application.
        const byLatency = kind.showsLatency;
        const height = byLatency ? (checks.length > 1 ? heights.latency : heights.onlyLatency) : heights.samples;
        const from = strips.length === 0 ? top : strips.at(-1)!.bottom + gap;
        const comparable = described.filter((other) => other.kind === kind);
        const latencies = byLatency ? rangeOf(comparable.flatMap(shownOf)) : undefined;
        strips.push({ ...one, latencies, top: from, bottom: from + heights.heading + height });
    }
    return strips;
}

/** Powers of ten around some latencies, at least two decades, for a logarithmic scale. */
function rangeOf(latenciesMs: readonly number[]): { least: number; most: number } {
    const known = latenciesMs.length === 0 ? [10] : latenciesMs.map((ms) => Math.max(1, ms));
    const most = Math.max(100, 10 ** Math.ceil(Math.log10(greatestOf(known))));
    return { least: Math.min(most / 100, 10 ** Math.floor(Math.log10(leastOf(known)))), most };
}

export function stripMarks(strip: Strip, axis: TimeAxis): string[] {
    const y = (latencyMs: number) => yIn(strip, latencyMs);
    const { answers, before, after, latencies, limitMs } = strip;
    const parts = [
        ...(axis.before ? [{ shown: before, x: axis.before.x }] : []),
        { shown: answers, x: axis.x },
        ...(axis.after ? [{ shown: after, x: axis.after.x }] : []),
    ];
    const marks = parts.flatMap(({ shown, x }) => shown.map((one) => ({ ...one, x: x(one.at), y: y(one.latencyMs) })));
    const radius = answers.length > many ? 2.2 : 3.2;
    const limit = limitMs === undefined ? undefined : y(limitMs);
    return [
        ...heading(strip),
        ...(latencies ? latencyMarks(strip) : []),
        ...(latencies ? parts.flatMap(({ shown, x }) => courses(shown).map((course) => courseOf(course, x, y))) : []),
        ...(limit === undefined ? [] : [line("mark", margin.left, limit, width - margin.right, limit)]),
        ...marks.map(({ x, y, at, latencyMs, good, stalledMs, problem = good ? "good" : "bad" }) => {
            const late = stalledMs === undefined ? "" : `, this machine up to ${describeMilliseconds(stalledMs)} late`;
            const title = `${relative(at, axis.zero)}: ${problem}, ${latencyMs} ms${late}`;
            return answerMark(x, y, good ? radius : undefined, title);
        }),
        ...(limitMs === undefined ? [] : [limitLabel(strip, limitMs, marks)]),
    ];
}

/** Draws the limit's name over the answers, at the end of its line, on the side that has fewer of them. */
function limitLabel(strip: Strip, limitMs: number, answers: readonly { x: number; y: number }[]): string {
    const text = `limit ${describeMilliseconds(limitMs)}`;
    const limit = yIn(strip, limitMs);
    const near = answers
        .filter(({ x }) => x > width - margin.right - widthOf(text) - 8)
        .map(({ y }) => limit - y)
        .filter((above) => Math.abs(above) < 22);
    const isBelow = near.filter((above) => above > 0).length > near.length / 2 && limit + 20 < strip.bottom;
    return label(width - margin.right - 4, isBelow ? limit + 16 : limit - 6, text, "faint over", "end");
}

/** The check's name, and how fast its good answers were. */
function heading({ name, answers, latencies, top }: Strip): string[] {
    const figures = latencies ? figuresOf(answers) : "";
    const space = width - margin.left - margin.right - widthOf(figures) - 24;
    return [
        label(margin.left, top + 15, fitted(name, space), "over"),
        ...(figures === "" ? [] : [label(width - margin.right, top + 15, figures, "faint over", "end")]),
    ];
}

/** Such as `good: median 12 ms, 95% within 40 ms`. */
function figuresOf(answers: readonly Answer[]): string {
    const slowest = latencyWithin(answers, 1);
    if (slowest === undefined) return "";
    const figure = (share: number, before = "") => {
        const ms = latencyWithin(answers, share)!;
        return ms === Infinity ? "unknown" : before + describeMilliseconds(ms);
    };
    const which = slowest === Infinity ? "good or not sent in time" : "good";
    return `${which}: median ${figure(0.5)}, 95% ${figure(0.95, "within ")}`;
}

/**
 * Within how many milliseconds a share of the good answers came. What this machine was too late for counts as slower
 * than all of them: left out, it would make the application look faster. Undefined if there is neither.
 */
export function latencyWithin(answers: readonly Answer[], share: Share): number | undefined {
    const counted = answers.filter((answer) => answer.good || isStalled(answer));
    const sorted = counted.map(({ good, latencyMs }) => (good ? latencyMs : Infinity)).sort((a, b) => a - b);
    return sorted[Math.ceil(share * sorted.length) - 1];
}

/** The good answers between two bad ones: a line through them shows how their latency changes. */
function courses(answers: readonly Answer[]): Answer[][] {
    const found: Answer[][] = [[]];
    for (const answer of answers) {
        if (answer.good) found.at(-1)!.push(answer);
        else found.push([]);
    }
    return found.filter(({ length }) => length > 1);
}

function courseOf(answers: readonly Answer[], x: (at: number) => number, y: (latencyMs: number) => number): string {
    const points = answers.map(({ at, latencyMs }) => `${round(x(at))},${round(y(latencyMs))}`);
    return element("polyline", { class: "course", points: points.join(" ") });
}

/** @param radius of the dot of a good answer. Undefined for a bad answer */
function answerMark(x: number, y: number, radius: number | undefined, title: string): string {
    const shown = [tooltip(title)];
    if (radius !== undefined) return element("circle", { class: "good", cx: round(x), cy: round(y), r: radius }, shown);
    return element("path", { class: "bad", d: `M${round(x - 4)} ${round(y - 4)}l8 8m0 -8l-8 8` }, shown);
}

function yIn({ latencies, top, bottom }: Strip, latencyMs: number): number {
    if (latencies === undefined) return bottom - heights.samples / 2;
    const { least, most } = latencies;
    const share = Math.log(Math.max(least, latencyMs) / least) / Math.log(most / least);
    return bottom - share * (bottom - top - heights.heading - 8);
}

function latencyMarks(strip: Strip): string[] {
    const { least, most } = strip.latencies!;
    const marks: string[] = [];
    for (let milliseconds = least; milliseconds <= most; milliseconds *= 10) {
        const y = yIn(strip, milliseconds);
        // There is no room for minutes beside the axis.
        const text = milliseconds < 1_000 ? `${milliseconds} ms` : `${milliseconds / 1_000} s`;
        marks.push(
            line("line", margin.left, y, width - margin.right, y),
            label(margin.left - 8, y + 4, text, "faint", "end"),
        );
    }
    return marks;
}
