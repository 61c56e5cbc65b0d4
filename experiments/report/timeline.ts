import { describeMilliseconds } from "../../shared/duration";
import type { Journal } from "../journal";
import { element, escape } from "./markup";

const width = 960;
const margin = { left: 184, right: 24 };
/** Heights of the picture's bands, from its top. */
const bands = { title: 64, phases: 34, latency: 200, lane: 22, axis: 36, gap: 14 };
/** Latencies that lines mark, in milliseconds. */
const latencyMarks = [1, 10, 100, 1_000, 10_000];
const mostLanes = 12;
/** What is first seen of a pod within this time, in milliseconds, was so from the beginning. */
const firstLookMs = 2_000;

/** Colours that differ in lightness as well as in hue, for either background; good and bad also differ in shape. */
const style = `
    .timeline { --ink: #1c2430; --faint: #6a7586; --line: #d8dee7; --paper: #ffffff; --good: #1b7f5c; --bad: #c2410c; --attack: #fde4d3; --grace: #fff4e8; --lane: #8fb8a8; --held: #1b7f5c;
        background: var(--paper); font: 13px system-ui, sans-serif; }
    @media (prefers-color-scheme: dark) {
        .timeline { --ink: #e8edf4; --faint: #9aa7b8; --line: #333d4a; --paper: #12171e; --good: #4fd1a1; --bad: #ff9a62; --attack: #3f2417; --grace: #2b2219; --lane: #35705c; }
    }
    .timeline text { fill: var(--ink); }
    .timeline .faint { fill: var(--faint); font-size: 12px; }
    .timeline .title { font-size: 17px; font-weight: 650; }
    .timeline .line { stroke: var(--line); }
    .timeline .attack { fill: var(--attack); }
    .timeline .grace { fill: var(--grace); }
    .timeline .good { fill: var(--good); }
    .timeline .bad { stroke: var(--bad); stroke-width: 2; fill: none; }
    .timeline .ready { stroke: var(--lane); stroke-width: 8; }
    .timeline .unready { stroke: var(--bad); stroke-width: 8; stroke-dasharray: 2 3; }
    .timeline .kill { stroke: var(--bad); stroke-width: 2; stroke-dasharray: 6 3; }
    .timeline .mark { stroke: var(--ink); stroke-dasharray: 4 4; }`;

/**
 * A run as a picture: when the attack lasted and what of it was grace, each answer of `/products` by its latency, good
 * ones as dots and bad ones as crosses, and which pods left their Services.
 *
 * @returns an SVG document that stands by itself, readable in light and dark
 */
export function timelineSvg(journal: Journal): string {
    const { answers, startedAt, attackedAt, endedAt, recovery, plan, conclusion } = journal;
    // The attack lasts until it is undone, which may be hours later: the picture ends with the check.
    const end = Math.max(endedAt, ...answers.map(({ at }) => at));
    const begin = Math.min(startedAt, ...answers.map(({ at }) => at));
    const x = (at: number) => margin.left + ((at - begin) / Math.max(1, end - begin)) * (width - margin.left - margin.right);

    const top = bands.title + bands.phases;
    const bottom = top + bands.latency;
    const lanes = lanesOf(journal);
    const height = bottom + bands.gap + lanes.length * bands.lane + bands.axis;
    const attack = attackedAt === undefined ? [] : attackMarks(x, attackedAt, Math.min(end, attackedAt + plan.window.graceMs), end, top, height - bands.axis);
    const outcome = recovery ? `recovered ${describeMilliseconds(recovery.recoveredAfterMs)} after the attack was undone` : "not undone yet";

    return element("svg", { xmlns: "http://www.w3.org/2000/svg", class: "timeline", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": "title description" }, [
        element("title", { id: "title" }, [escape(`${conclusion.name}: ${conclusion.verdict}`)]),
        element("desc", { id: "description" }, [escape(inWords(journal))]),
        element("style", {}, [style]),
        rect("paper", 0, 0, width, height, "var(--paper)"),
        label(24, 28, `${conclusion.name}: ${conclusion.verdict}`, "title"),
        label(24, 48, conclusion.hypothesis, "faint"),
        label(width - margin.right, 48, "answers: ● good, ✕ bad; pods: dashed while not ready", "faint", "end"),
        ...attack,
        ...(attackedAt === undefined ? [] : [label(width - margin.right, 28, outcome, "faint", "end")]),
        ...latencyAxis(top, bottom),
        ...answers.map(({ at, latencyMs, good, problem }) => answerMark(x(at), yOfLatency(latencyMs, top, bottom), good, `${relative(at, attackedAt ?? begin)}: ${problem ?? "good"}, ${latencyMs} ms`)),
        ...(journal.kills ?? []).map(({ at, pod }) => killMark(x(Math.min(end, Math.max(begin, at))), top, bottom, `${relative(at, attackedAt ?? begin)}: ${pod} was killed`)),
        ...lanes.flatMap((lane, index) => laneMarks(lane, bottom + bands.gap + (index + 0.5) * bands.lane, x, begin, end)),
        ...timeAxis(x, begin, end, attackedAt ?? begin, height - bands.axis),
    ]);
}

/** The picture in a sentence, for who cannot see it. */
function inWords({ conclusion, attackedAt, recovery, answers }: Journal): string {
    const bad = answers.filter(({ good }) => !good).length;
    const attack = attackedAt === undefined ? "no attack was proven" : `under attack, ${conclusion.successRate} of the counted answers were good`;
    const after = recovery ? `; recovered ${describeMilliseconds(recovery.recoveredAfterMs)} after the attack was undone` : "";
    return `${answers.length} requests to /products, ${bad} of them bad; ${attack}${after}. ${conclusion.reason}`;
}

function attackMarks(x: (at: number) => number, attackedAt: number, graceEnd: number, end: number, top: number, bottom: number): string[] {
    const spans = [
        { kind: "grace", name: "grace, not counted", from: attackedAt, to: graceEnd },
        { kind: "attack", name: "under attack, counted", from: graceEnd, to: end },
    ].filter(({ from, to }) => to > from);
    return [
        ...spans.map(({ kind, from, to }) => rect(kind, x(from), top, x(to) - x(from), bottom - top)),
        ...spans.map(({ name, from }) => label(x(from), top - 10, name, "faint")),
        element("line", { class: "mark", x1: round(x(attackedAt)), x2: round(x(attackedAt)), y1: top - 8, y2: bottom }),
    ];
}

interface Lane {
    pod: string;
    isTarget: boolean;
    changes: { at: number; ready: boolean }[];
}

/** The pods worth a lane: the targets, and those whose readiness changed. Targets first. */
function lanesOf({ readiness, targets }: Journal): Lane[] {
    const attacked = new Set(targets.map(({ pod }) => pod));
    return [...new Set(readiness.map(({ pod }) => pod))]
        .map((pod) => ({ pod, isTarget: attacked.has(pod), changes: readiness.filter((change) => change.pod === pod) }))
        .filter(({ isTarget, changes }) => isTarget || changes.length > 1)
        .sort((a, b) => Number(b.isTarget) - Number(a.isTarget) || a.pod.localeCompare(b.pod))
        .slice(0, mostLanes);
}

function laneMarks({ pod, isTarget, changes }: Lane, y: number, x: (at: number) => number, begin: number, end: number): string[] {
    const spans = changes.map(({ at, ready }, index) => {
        const from = index === 0 && at - begin < firstLookMs ? begin : at;
        return element("line", { class: ready ? "ready" : "unready", x1: round(x(from)), x2: round(x(changes[index + 1]?.at ?? end)), y1: y, y2: y }, [element("title", {}, [`${ready ? "ready" : "not ready"}`])]);
    });
    return [label(margin.left - 10, y + 4, `${isTarget ? "✕ " : ""}${shortened(pod)}`, isTarget ? "" : "faint", "end"), ...spans];
}

function answerMark(x: number, y: number, good: boolean, title: string): string {
    const tooltip = [element("title", {}, [escape(title)])];
    if (good) return element("circle", { class: "good", cx: round(x), cy: round(y), r: 3.2 }, tooltip);
    return element("path", { class: "bad", d: `M${round(x - 4)} ${round(y - 4)}l8 8m0 -8l-8 8` }, tooltip);
}

/** A pod that was killed: a line through the band of the answers. */
function killMark(x: number, top: number, bottom: number, title: string): string {
    return element("line", { class: "kill", x1: round(x), x2: round(x), y1: top, y2: bottom }, [element("title", {}, [escape(title)])]);
}

/** Latencies spread over four powers of ten: the scale is logarithmic. */
function yOfLatency(milliseconds: number, top: number, bottom: number): number {
    const [least, most] = [Math.log10(latencyMarks[0]!), Math.log10(latencyMarks.at(-1)!)];
    const share = (Math.log10(Math.max(latencyMarks[0]!, milliseconds)) - least) / (most - least);
    return bottom - Math.min(1, share) * (bottom - top - 12);
}

function latencyAxis(top: number, bottom: number): string[] {
    return latencyMarks.flatMap((milliseconds) => {
        const y = round(yOfLatency(milliseconds, top, bottom));
        return [element("line", { class: "line", x1: margin.left, x2: width - margin.right, y1: y, y2: y }), label(margin.left - 10, y + 4, describeMilliseconds(milliseconds), "faint", "end")];
    });
}

function timeAxis(x: (at: number) => number, begin: number, end: number, zero: number, y: number): string[] {
    const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600].find((seconds) => (end - begin) / 1_000 / seconds <= 10) ?? 3_600;
    const marks: string[] = [element("line", { class: "line", x1: margin.left, x2: width - margin.right, y1: y, y2: y })];
    for (let second = Math.ceil((begin - zero) / 1_000 / step) * step; zero + second * 1_000 <= end; second += step) {
        marks.push(label(x(zero + second * 1_000), y + 20, `${second} s`, "faint", "middle"));
    }
    return marks;
}

function rect(kind: string, x: number, y: number, w: number, h: number, fill?: string): string {
    return element("rect", { class: kind, x: round(x), y: round(y), width: round(Math.max(0, w)), height: round(h), ...(fill && { fill }) });
}

function label(x: number, y: number, text: string, kind = "", anchor: "start" | "middle" | "end" = "start"): string {
    return element("text", { class: kind, x: round(x), y: round(y), "text-anchor": anchor }, [escape(text)]);
}

const relative = (at: number, zero: number) => `${((at - zero) / 1_000).toFixed(1)} s`;
const shortened = (pod: string) => (pod.length > 20 ? `${pod.slice(0, 10)}…${pod.slice(-9)}` : pod);
const round = (value: number) => Math.round(value * 10) / 10;
