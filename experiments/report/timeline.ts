import { describeMilliseconds } from "../../shared/duration";
import type { Answer } from "../checks/answer";
import type { Journal } from "../journal";
import { element, escape } from "./markup";

const width = 960;
const margin = { left: 184, right: 24 };
/** Heights of the picture's bands, from its top. A latency band is lower where there are several. */
const bands = { title: 82, phases: 34, latency: 200, severalLatencies: 130, samples: 40, lane: 22, axis: 36, gap: 14 };
/** About how wide a character of the small type is. */
const characterWidth = 6.2;
/** Latencies that lines mark, in milliseconds. */
const latencyMarks = [1, 10, 100, 1_000, 10_000];
const mostLanes = 12;

/** Colours that differ in lightness as well as in hue, for either background; good and bad also differ in shape. */
const style = `
    .timeline { --ink: #1c2430; --faint: #6a7586; --line: #d8dee7; --paper: #ffffff; --good: #1b7f5c; --bad: #c2410c; --attack: #fde4d3; --grace: #fff4e8; --lane: #8fb8a8; --held: #1b7f5c;
        background: var(--paper); font: 13px system-ui, sans-serif; }
    @media (prefers-color-scheme: dark) {
        .timeline { --ink: #e8edf4; --faint: #9aa7b8; --line: #333d4a; --paper: #12171e; --good: #4fd1a1; --bad: #ff9a62; --attack: #3f2417; --grace: #2b2219; --lane: #35705c; }
    }
    .timeline text { fill: var(--ink); }
    .timeline .faint { fill: var(--faint); font-size: 12px; }
    .timeline .over { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; }
    .timeline .title { font-size: 17px; font-weight: 650; }
    .timeline .line { stroke: var(--line); }
    .timeline .attack { fill: var(--attack); }
    .timeline .grace { fill: var(--grace); }
    .timeline .good { fill: var(--good); }
    .timeline .bad { stroke: var(--bad); stroke-width: 2; fill: none; }
    .timeline .ready { stroke: var(--lane); stroke-width: 8; }
    .timeline .unready { stroke: var(--bad); stroke-width: 8; stroke-dasharray: 2 3; }
    .timeline .kill { stroke: var(--bad); stroke-width: 2; stroke-dasharray: 6 3; }
    .timeline .action { stroke: var(--ink); stroke-width: 3; }
    .timeline .mark { stroke: var(--ink); stroke-dasharray: 4 4; }`;

/**
 * A run as a picture: when the attacks lasted and what of it was grace; for each check its answers, good ones as dots
 * and bad ones as crosses, those of the gateway by their latency; what was done meanwhile; and which pods left their
 * Services.
 *
 * @returns an SVG document that stands by itself, readable in light and dark
 */
export function timelineSvg(journal: Journal): string {
    const { checks, actions, startedAt, attackedAt, endedAt, recovery, plan, conclusion } = journal;
    const times = checks.flatMap(({ answers }) => answers.map(({ at }) => at));
    // The attacks last until they are undone, which may be hours later: the picture ends with the check.
    const end = Math.max(endedAt, ...times);
    const begin = Math.min(startedAt, ...times);
    const zero = attackedAt ?? begin;
    const x = (at: number) =>
        margin.left + ((at - begin) / Math.max(1, end - begin)) * (width - margin.left - margin.right);

    const top = bands.title + bands.phases;
    const strips = stripsOf(journal, top);
    const bottom = strips.at(-1)?.bottom ?? top;
    const lanes = [
        ...actions.map((performed) => actionLane(performed, x, zero)),
        ...podLanesOf(journal).map((lane) => podLane(lane, x, end)),
    ];
    const height = bottom + bands.gap + lanes.length * bands.lane + bands.axis;
    const kills = journal.attacks.flatMap((attack) => attack.kills ?? []);
    const outcome = recovery
        ? `recovered ${describeMilliseconds(recovery.recoveredAfterMs)} after the attack was undone`
        : "not undone yet";

    return element(
        "svg",
        {
            xmlns: "http://www.w3.org/2000/svg",
            class: "timeline",
            viewBox: `0 0 ${width} ${height}`,
            role: "img",
            "aria-labelledby": "title description",
        },
        [
            element("title", { id: "title" }, [escape(`${conclusion.name}: ${conclusion.verdict}`)]),
            element("desc", { id: "description" }, [escape(inWords(journal))]),
            element("style", {}, [style]),
            rect("paper", 0, 0, width, height, "var(--paper)"),
            label(24, 28, `${conclusion.name}: ${conclusion.verdict}`, "title"),
            label(24, 48, shortened(conclusion.hypothesis, Math.floor((width - 48) / characterWidth)), "faint"),
            label(24, 66, "answers: ● good, ✕ bad; pods: dashed while not ready, ✕ attacked", "faint"),
            ...(attackedAt === undefined
                ? []
                : attackMarks(
                      x,
                      attackedAt,
                      Math.min(end, attackedAt + plan.window.graceMs),
                      end,
                      top,
                      height - bands.axis,
                  )),
            ...(attackedAt === undefined ? [] : [label(width - margin.right, 28, outcome, "faint", "end")]),
            ...strips.flatMap((strip) => stripMarks(strip, x, zero, strips.length > 1)),
            ...kills.map(({ at, pod }) =>
                killMark(
                    x(Math.min(end, Math.max(begin, at))),
                    top,
                    bottom,
                    `${relative(at, zero)}: ${pod} was killed`,
                ),
            ),
            ...lanes.flatMap((marks, index) => marks(bottom + bands.gap + (index + 0.5) * bands.lane)),
            ...timeAxis(x, begin, end, zero, height - bands.axis),
        ],
    );
}

/** The picture in a sentence, for who cannot see it. */
function inWords({ conclusion, attackedAt, recovery, checks, actions, plan }: Journal): string {
    const counts = checks.map(({ name, answers }, index) => {
        const what = plan.checks[index]!.check.kind === "http" ? `requests to ${name}` : `looks at ${name}`;
        return `${answers.length} ${what}, ${answers.filter(({ good }) => !good).length} of them bad`;
    });
    const attack =
        attackedAt === undefined
            ? "no attack was proven"
            : `under attack, ${conclusion.successRate} of the counted answers were good`;
    const done = actions.length === 0 ? "" : `; done meanwhile: ${actions.map(({ action }) => action).join(", ")}`;
    const after = recovery
        ? `; recovered ${describeMilliseconds(recovery.recoveredAfterMs)} after the attack was undone`
        : "";
    return `${[...counts, attack].join("; ")}${done}${after}. ${conclusion.reason}`;
}

/** When the attacks lasted. The grace is named beside it where it is too short to have its name within. */
function attackMarks(
    x: (at: number) => number,
    attackedAt: number,
    graceEnd: number,
    end: number,
    top: number,
    bottom: number,
): string[] {
    const spans = [
        { kind: "grace", name: "grace, not counted", from: attackedAt, to: graceEnd },
        { kind: "attack", name: "under attack, counted", from: graceEnd, to: end },
    ].filter(({ from, to }) => to > from);
    return [
        ...spans.map(({ kind, from, to }) => rect(kind, x(from), top, x(to) - x(from), bottom - top)),
        ...spans.map(({ kind, name, from, to }) => {
            const before = kind === "grace" && x(to) - x(from) < (name.length + 1) * characterWidth;
            return label(x(from) - (before ? 6 : 0), top - 10, name, "faint", before ? "end" : "start");
        }),
        element("line", { class: "mark", x1: round(x(attackedAt)), x2: round(x(attackedAt)), y1: top - 8, y2: bottom }),
    ];
}

/** The band of one check. */
interface Strip {
    name: string;
    answers: Answer[];
    /** Whether it is drawn by latency: that of an API server says nothing of the shop. */
    byLatency: boolean;
    top: number;
    bottom: number;
}

function stripsOf({ checks, plan }: Journal, top: number): Strip[] {
    const strips: Strip[] = [];
    for (const [index, { name, answers }] of checks.entries()) {
        const byLatency = plan.checks[index]!.check.kind === "http";
        const height = byLatency ? (checks.length > 1 ? bands.severalLatencies : bands.latency) : bands.samples;
        const from = strips.length === 0 ? top : strips.at(-1)!.bottom + bands.gap;
        strips.push({ name, answers, byLatency, top: from, bottom: from + height });
    }
    return strips;
}

function stripMarks(
    { name, answers, byLatency, top, bottom }: Strip,
    x: (at: number) => number,
    zero: number,
    named: boolean,
): string[] {
    const y = (latencyMs: number) => (byLatency ? yOfLatency(latencyMs, top, bottom) : (top + bottom) / 2 + 6);
    return [
        ...(byLatency ? latencyAxis(top, bottom) : []),
        ...(named ? [label(margin.left + 6, top + 11, name, "faint over")] : []),
        ...answers.map(({ at, latencyMs, good, problem }) =>
            answerMark(x(at), y(latencyMs), good, `${relative(at, zero)}: ${problem ?? "good"}, ${latencyMs} ms`),
        ),
    ];
}

/** What a lane shows, once it is known how far down it lies. */
type LaneMarks = (y: number) => string[];

/** From when to when something was done; what takes no time is a point. */
function actionLane(
    { action, begunAt, endedAt, problem }: Journal["actions"][number],
    x: (at: number) => number,
    zero: number,
): LaneMarks {
    const [from, to] = [x(begunAt), Math.max(x(endedAt), x(begunAt) + 3)];
    const title = `${relative(begunAt, zero)}: ${action}${problem === undefined ? "" : `, which failed: ${problem}`}`;
    return (y) => [
        label(margin.left - 10, y + 4, shortened(action, 26), "", "end"),
        element(
            "line",
            { class: problem === undefined ? "action" : "unready", x1: round(from), x2: round(to), y1: y, y2: y },
            [element("title", {}, [escape(title)])],
        ),
    ];
}

interface PodLane {
    pod: string;
    /** The attack that it is a target of, if any. */
    attack?: string;
    /** Whether it has to be told which attack that is. */
    several: boolean;
    changes: { at: number; ready: boolean }[];
}

/** The pods worth a lane: the targets, and those whose readiness changed. Targets first. */
function podLanesOf({ readiness, attacks }: Journal): PodLane[] {
    const attackOn = new Map(attacks.flatMap(({ name, targets }) => targets.map(({ pod }) => [pod, name] as const)));
    return [...new Set(readiness.map(({ pod }) => pod))]
        .map((pod) => ({
            pod,
            attack: attackOn.get(pod),
            several: attacks.length > 1,
            changes: readiness.filter((change) => change.pod === pod),
        }))
        .filter(({ attack, changes }) => attack !== undefined || changes.length > 1)
        .sort((a, b) => Number(b.attack !== undefined) - Number(a.attack !== undefined) || a.pod.localeCompare(b.pod))
        .slice(0, mostLanes);
}

function podLane({ pod, attack, several, changes }: PodLane, x: (at: number) => number, end: number): LaneMarks {
    return (y) => [
        label(
            margin.left - 10,
            y + 4,
            `${attack === undefined ? "" : "✕ "}${shortened(pod, 20)}`,
            attack === undefined ? "faint" : "",
            "end",
        ),
        ...changes.map(({ at, ready }, index) =>
            element(
                "line",
                {
                    class: ready ? "ready" : "unready",
                    x1: round(x(at)),
                    x2: round(x(changes[index + 1]?.at ?? end)),
                    y1: y,
                    y2: y,
                },
                [element("title", {}, [ready ? "ready" : "not ready"])],
            ),
        ),
        ...(attack !== undefined && several
            ? [label(width - margin.right - 4, y + 4, attack, "faint over", "end")]
            : []),
    ];
}

function answerMark(x: number, y: number, good: boolean, title: string): string {
    const tooltip = [element("title", {}, [escape(title)])];
    if (good) return element("circle", { class: "good", cx: round(x), cy: round(y), r: 3.2 }, tooltip);
    return element("path", { class: "bad", d: `M${round(x - 4)} ${round(y - 4)}l8 8m0 -8l-8 8` }, tooltip);
}

/** A pod that was killed: a line through the band of the answers. */
function killMark(x: number, top: number, bottom: number, title: string): string {
    return element("line", { class: "kill", x1: round(x), x2: round(x), y1: top, y2: bottom }, [
        element("title", {}, [escape(title)]),
    ]);
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
        return [
            element("line", { class: "line", x1: margin.left, x2: width - margin.right, y1: y, y2: y }),
            label(margin.left - 10, y + 4, describeMilliseconds(milliseconds), "faint", "end"),
        ];
    });
}

function timeAxis(x: (at: number) => number, begin: number, end: number, zero: number, y: number): string[] {
    const step =
        [1, 2, 5, 10, 15, 30, 60, 120, 300, 600].find((seconds) => (end - begin) / 1_000 / seconds <= 10) ?? 3_600;
    const marks: string[] = [
        element("line", { class: "line", x1: margin.left, x2: width - margin.right, y1: y, y2: y }),
    ];
    for (let second = Math.ceil((begin - zero) / 1_000 / step) * step; zero + second * 1_000 <= end; second += step) {
        marks.push(label(x(zero + second * 1_000), y + 20, `${second} s`, "faint", "middle"));
    }
    return marks;
}

function rect(kind: string, x: number, y: number, w: number, h: number, fill?: string): string {
    return element("rect", {
        class: kind,
        x: round(x),
        y: round(y),
        width: round(Math.max(0, w)),
        height: round(h),
        ...(fill && { fill }),
    });
}

function label(x: number, y: number, text: string, kind = "", anchor: "start" | "middle" | "end" = "start"): string {
    return element("text", { class: kind, x: round(x), y: round(y), "text-anchor": anchor }, [escape(text)]);
}

const relative = (at: number, zero: number) => `${((at - zero) / 1_000).toFixed(1)} s`;
const shortened = (text: string, most: number) =>
    text.length > most ? `${text.slice(0, most / 2)}…${text.slice(1 - most / 2)}` : text;
const round = (value: number) => Math.round(value * 10) / 10;
