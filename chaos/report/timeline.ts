import type { Answer } from "../checks/answer";
import { describeMilliseconds } from "../duration";
import {
    characterWidth,
    colors,
    label,
    line,
    margin,
    rect,
    relative,
    round,
    rowName,
    shortened,
    type TimeAxis,
    tooltip,
    width,
} from "./drawing";
import type { Journal } from "./journal-schema";
import { actionLane, podLanes } from "./lanes";
import { element, escape } from "./markup";
import { sinceUndone } from "./verdict";

/** Heights of the picture's bands, from the top. A latency band is lower if there are several. */
const bands = { title: 82, phases: 34, latency: 200, severalLatencies: 130, samples: 40, lane: 22, axis: 36, gap: 14 };
/** Latencies with a grid line, in milliseconds. */
const latencyMarks = [1, 10, 100, 1_000, 10_000];

/** Colors that differ in lightness as well as in hue, on either background; good and bad also differ in shape. */
const style = `
    .timeline {
        ${colors.light} --good: #1b7f5c; --bad: #c2410c;
        --attack: #fde4d3; --grace: #fff4e8; --lane: #8fb8a8;
        background: var(--paper); font: 13px system-ui, sans-serif;
    }
    @media (prefers-color-scheme: dark) {
        .timeline {
            ${colors.dark} --good: #4fd1a1; --bad: #ff9a62;
            --attack: #3f2417; --grace: #2b2219; --lane: #35705c;
        }
    }
    .timeline .paper { fill: var(--paper); }
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
 * A run as a picture: when the attacks lasted and which part was the grace period; each check's answers, good ones as
 * dots and bad ones as crosses, http answers by latency; the actions; and which pods left their Services.
 *
 * @returns an SVG document that needs no other file, readable in light and dark mode
 */
export function timelineSvg(journal: Journal): string {
    const { checks, actions, startedAt, attackedAt, endedAt, plan, conclusion } = journal;
    const times = checks.flatMap(({ answers }) => answers.map(({ at }) => at));
    // The attacks last until they are undone, which may be hours later: the picture ends with the check.
    const end = Math.max(endedAt, ...times);
    const begin = Math.min(startedAt, ...times);
    const zero = attackedAt ?? begin;
    const x = (at: number) =>
        margin.left + ((at - begin) / Math.max(1, end - begin)) * (width - margin.left - margin.right);
    const axis = { begin, end, zero, x };

    const top = bands.title + bands.phases;
    const strips = stripsOf(journal, top);
    const bottom = strips.at(-1)?.bottom ?? top;
    const lanes = [...actions.map((performed) => actionLane(performed, axis)), ...podLanes(journal, axis)];
    const height = bottom + bands.gap + lanes.length * bands.lane + bands.axis;
    const kills = journal.attacks.flatMap((attack) => attack.kills ?? []);
    const title = `${conclusion.name}: ${conclusion.verdict}`;
    // An aborted run's attacks have ended, but its last answers may have come later.
    const attackEnd = Math.min(end, journal.aborted?.endedAt ?? end);
    const graceEnd = Math.min(attackEnd, zero + plan.window.graceMs);

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
            element("title", { id: "title" }, [escape(title)]),
            element("desc", { id: "description" }, [escape(inWords(journal))]),
            element("style", {}, [style]),
            rect("paper", 0, 0, width, height),
            label(24, 28, title, "title"),
            label(24, 48, shortened(conclusion.hypothesis, Math.floor((width - 48) / characterWidth)), "faint"),
            label(24, 66, "answers: ● good, ✕ bad; pods: dashed while not ready, ✕ attacked", "faint"),
            ...(attackedAt === undefined
                ? []
                : [
                      ...attackMarks(axis, attackedAt, graceEnd, attackEnd, top, height - bands.axis),
                      ...abortMark(journal, axis, attackedAt, top, height - bands.axis),
                      label(width - margin.right, 28, recoveryOf(journal) ?? "not undone yet", "faint", "end"),
                      ...(conclusion.outwardUnproven
                          ? [label(width - margin.right, 66, "outward was not proven", "faint", "end")]
                          : []),
                  ]),
            ...strips.flatMap((strip) => stripMarks(strip, axis, strips.length > 1)),
            ...kills.map(({ at, pod }) => {
                const killedAt = x(Math.min(end, Math.max(begin, at)));
                return line("kill", killedAt, top, killedAt, bottom, `${relative(at, zero)}: ${pod} was killed`);
            }),
            ...lanes.flatMap((marks, index) => marks(bottom + bands.gap + (index + 0.5) * bands.lane)),
            ...timeMarks(axis, height - bands.axis),
        ],
    );
}

function recoveryOf({ recovery }: Journal): string | undefined {
    return recovery && `recovered ${sinceUndone(recovery)}`;
}

/** The picture in words, for screen readers. */
function inWords(journal: Journal): string {
    const { conclusion, attackedAt, checks, actions, plan } = journal;
    const counts = checks.map(({ name, answers }, index) => {
        const what = plan.checks[index]!.check.kind === "http" ? `requests to ${name}` : `looks at ${name}`;
        return `${answers.length} ${what}, ${answers.filter(({ good }) => !good).length} of them bad`;
    });
    const attack =
        attackedAt === undefined
            ? "no attack was proven"
            : `under attack, ${conclusion.successRate} of the counted answers were good`;
    const done = actions.length === 0 ? "" : `; done meanwhile: ${actions.map(({ action }) => action).join(", ")}`;
    const recovered = recoveryOf(journal);
    const after = recovered === undefined ? "" : `; ${recovered}`;
    return `${[...counts, attack].join("; ")}${done}${after}. ${conclusion.reason}`;
}

/** When the attacks lasted. The name of the grace period is beside it if it does not fit inside. */
function attackMarks(
    { x }: TimeAxis,
    attackedAt: number,
    graceEnd: number,
    attackEnd: number,
    top: number,
    bottom: number,
): string[] {
    const spans = [
        { kind: "grace", name: "grace, not counted", from: attackedAt, to: graceEnd },
        { kind: "attack", name: "under attack, counted", from: graceEnd, to: attackEnd },
    ].filter(({ from, to }) => to > from);
    return [
        ...spans.map(({ kind, from, to }) => rect(kind, x(from), top, x(to) - x(from), bottom - top)),
        ...spans.map(({ kind, name, from, to }) => {
            const before = kind === "grace" && x(to) - x(from) < (name.length + 1) * characterWidth;
            return label(x(from) - (before ? 6 : 0), top - 10, name, "faint", before ? "end" : "start");
        }),
        line("mark", x(attackedAt), top - 8, x(attackedAt), bottom),
    ];
}

/** When a check aborted the run. */
function abortMark(
    { aborted }: Journal,
    { x, end }: TimeAxis,
    attackedAt: number,
    top: number,
    bottom: number,
): string[] {
    if (aborted === undefined) return [];
    const at = x(Math.min(end, attackedAt + aborted.afterMs));
    const { check, rate, below } = aborted;
    return [
        line("mark", at, top - 24, at, bottom, `aborted: ${check}, ${rate} succeeded (abort below ${below})`),
        label(at - 6, top - 24, "aborted", "faint", "end"),
    ];
}

interface Strip {
    name: string;
    answers: Answer[];
    /** Whether it is drawn by latency. The API server's says nothing about the application. */
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

function stripMarks({ name, answers, byLatency, top, bottom }: Strip, { x, zero }: TimeAxis, named: boolean): string[] {
    const y = (latencyMs: number) => (byLatency ? yOfLatency(latencyMs, top, bottom) : (top + bottom) / 2 + 6);
    return [
        ...(byLatency ? latencyAxis(top, bottom) : []),
        ...(named ? [label(margin.left + 6, top + 11, name, "faint over")] : []),
        ...answers.map(({ at, latencyMs, good, problem }) =>
            answerMark(x(at), y(latencyMs), good, `${relative(at, zero)}: ${problem ?? "good"}, ${latencyMs} ms`),
        ),
    ];
}

function answerMark(x: number, y: number, good: boolean, title: string): string {
    if (good) return element("circle", { class: "good", cx: round(x), cy: round(y), r: 3.2 }, [tooltip(title)]);
    return element("path", { class: "bad", d: `M${round(x - 4)} ${round(y - 4)}l8 8m0 -8l-8 8` }, [tooltip(title)]);
}

/** On a logarithmic scale: latencies spread over four powers of ten. */
function yOfLatency(milliseconds: number, top: number, bottom: number): number {
    const [least, most] = [Math.log10(latencyMarks[0]!), Math.log10(latencyMarks.at(-1)!)];
    const share = (Math.log10(Math.max(latencyMarks[0]!, milliseconds)) - least) / (most - least);
    return bottom - Math.min(1, share) * (bottom - top - 12);
}

function latencyAxis(top: number, bottom: number): string[] {
    return latencyMarks.flatMap((milliseconds) => {
        const y = yOfLatency(milliseconds, top, bottom);
        return [
            line("line", margin.left, y, width - margin.right, y),
            rowName(y, describeMilliseconds(milliseconds), "faint"),
        ];
    });
}

function timeMarks({ x, begin, end, zero }: TimeAxis, y: number): string[] {
    const step =
        [1, 2, 5, 10, 15, 30, 60, 120, 300, 600].find((seconds) => (end - begin) / 1_000 / seconds <= 10) ?? 3_600;
    const marks = [line("line", margin.left, y, width - margin.right, y)];
    for (let second = Math.ceil((begin - zero) / 1_000 / step) * step; zero + second * 1_000 <= end; second += step) {
        marks.push(label(x(zero + second * 1_000), y + 20, `${second} s`, "faint", "middle"));
    }
    return marks;
}
