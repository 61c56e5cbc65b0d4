import type { Observed } from "../kinds/checks/observe";
import { checkKindOf } from "../kinds/checks/registry";
import { isAttack, onlyObserves } from "../definition/plan";
import { greatestOf, leastOf } from "../values/extremes";
import { verdictAndCode } from "../values/reasons";
import { colors, label, line, lines, margin, rect, relative, spanOf, type TimeAxis, width, widthOf } from "./drawing";
import type { Journal } from "./journal-schema";
import { actionLane, podLanes } from "./lanes";
import { element, escape } from "./markup";
import { stripMarks, stripsOf } from "./strips";
import { sinceUndone } from "../values/since";

/** Heights, in pixels. */
const bands = { title: 36, line: 19, phases: 38, lane: 36, axis: 34, gap: 14 };
/** Widths of what is before and after the run, and of the gaps, in pixels. */
const aside = { before: 52, after: 72, gap: 16 };
const edge = 16;

/** Colors that differ in lightness as well as in hue, on either background; good and bad also differ in shape. */
const style = `
    .timeline {
        ${colors.light} --good: #1b7f5c; --bad: #c2410c;
        --attack: #fde0cc; --grace: #fff3e6; --window: #eaf1fa; --lane: #8fb8a8;
        background: var(--paper); font: 13px system-ui, sans-serif;
    }
    @media screen and (prefers-color-scheme: dark) {
        .timeline {
            ${colors.dark} --good: #4fd1a1; --bad: #ff9a62;
            --attack: #43261a; --grace: #2a211a; --window: #1a2635; --lane: #3f8a70;
        }
    }
    .timeline .paper { fill: var(--paper); }
    .timeline text { fill: var(--ink); }
    .timeline .faint { fill: var(--faint); font-size: 13px; }
    .timeline .over { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round; }
    .timeline .title { font-size: 17px; font-weight: 650; }
    .timeline .line { stroke: var(--line); }
    .timeline .attack { fill: var(--attack); }
    .timeline .grace { fill: var(--grace); }
    .timeline .window { fill: var(--window); }
    .timeline .course { stroke: var(--lane); stroke-width: 1.5; fill: none; }
    .timeline .good { fill: var(--good); }
    .timeline .bad { stroke: var(--bad); stroke-width: 2; fill: none; }
    .timeline .ready { stroke: var(--lane); stroke-width: 8; }
    .timeline .unready { stroke: var(--bad); stroke-width: 8; stroke-dasharray: 2 3; }
    .timeline .killed { stroke: var(--bad); stroke-width: 3; }
    .timeline .kill { stroke: var(--bad); stroke-width: 2; stroke-dasharray: 6 3; }
    .timeline .action { stroke: var(--ink); stroke-width: 3; }
    .timeline .mark { stroke: var(--ink); stroke-dasharray: 4 4; }`;

/**
 * A run as a picture: when the attacks lasted and which part was the grace period; each check's answers, good ones as
 * dots and bad ones as crosses, by latency where that is the application's, with those before and after the attacks
 * beside them; the actions; and which pods left their Services.
 *
 * @param onPage whether it is part of a page, which has the heading
 * @returns an SVG document that needs no other file, readable in light and dark mode, in print and 600 pixels wide
 */
export function timelineSvg(journal: Journal, { onPage = false } = {}): string {
    const { actions } = journal;
    const axis = axisOf(journal);
    const { begin, end, zero, x } = axis;

    const heading = headingOf(journal, onPage);
    const headed = onPage ? 0 : bands.title;
    const top = headed + heading.length * bands.line + bands.phases;
    const strips = stripsOf(journal, top, bands.gap);
    const bottom = strips.at(-1)?.bottom ?? top;
    const lanes = [...actions.map((performed) => actionLane(performed, axis)), ...podLanes(journal, axis)];
    const axisY = bottom + bands.gap + lanes.length * bands.lane;
    const kills = journal.attacks.flatMap((attack) => attack.kills ?? []);
    const title = `${journal.conclusion.name}: ${verdictAndCode(journal.conclusion)}`;

    return element(
        "svg",
        {
            xmlns: "http://www.w3.org/2000/svg",
            class: "timeline",
            viewBox: `0 0 ${width} ${axisY + bands.axis}`,
            role: "img",
            "aria-labelledby": "title description",
        },
        [
            element("title", { id: "title" }, [escape(title)]),
            element("desc", { id: "description" }, [escape(inWords(journal))]),
            element("style", {}, [style]),
            rect("paper", 0, 0, width, axisY + bands.axis),
            ...(onPage ? [] : [label(edge, 28, title, "title")]),
            ...heading.map((text, index) => label(edge, headed + (index + 0.75) * bands.line, text, "faint")),
            ...spanMarks(journal, axis, top, axisY),
            ...abortMark(journal, axis, top, axisY),
            ...strips.flatMap((strip) => stripMarks(strip, axis)),
            ...kills.map(({ at, pod }) => {
                const killedAt = x(Math.min(end, Math.max(begin, at)));
                return line("kill", killedAt, top, killedAt, bottom, `${relative(at, zero)}: ${pod} was killed`);
            }),
            ...lanes.flatMap((marks, index) => {
                const laneTop = bottom + bands.gap + index * bands.lane;
                return marks(laneTop + 14, laneTop + 25);
            }),
            ...timeMarks(axis, axisY),
        ],
    );
}

function axisOf({ startedAt, attackedAt, endedAt, before, checks, recovery }: Journal): TimeAxis {
    const timesOf = (observed: readonly Observed[] = []) =>
        observed.flatMap(({ answers }) => answers.map(({ at }) => at));
    const [earlier, times, later] = [timesOf(before), timesOf(checks), timesOf(recovery?.checks)];
    const [left, right] = [margin.left, width - margin.right];
    const has = { before: earlier.length > 0, after: later.length > 0 };
    const run = spanOf(
        Math.min(startedAt, leastOf(times)),
        // The attacks last until they are undone, which may be hours later, but the run's part ends with the check.
        Math.max(endedAt, greatestOf(times)),
        left + (has.before ? aside.before + aside.gap : 0),
        right - (has.after ? aside.after + aside.gap : 0),
    );
    const besides = (at: number[], from: number, to: number) => spanOf(leastOf(at), greatestOf(at), from, to);
    return {
        ...run,
        zero: attackedAt ?? run.begin,
        ...(has.before && { before: besides(earlier, left, left + aside.before) }),
        ...(has.after && { after: besides([recovery!.undoneAt, ...later], right - aside.after, right) }),
    };
}

/** The lines below the title: the hypothesis, what became of the attack, and what the marks mean. */
function headingOf(journal: Journal, onPage: boolean): string[] {
    const { attacks, conclusion, plan, readiness } = journal;
    const attacked = isAttack(plan) ? ", ✕ attacked" : "";
    const killed = attacks.some(({ kills = [] }) => kills.length > 0) ? ", ┃ killed" : "";
    const pods = readiness.length === 0 ? "" : `; pods: dashed while not ready${attacked}${killed}`;
    return [
        ...(onPage ? [] : lines(conclusion.hypothesis, width - 2 * edge, 2)),
        ...(hasBegun(journal) ? [recoveryOf(journal) ?? notUndone(plan)].flat() : []),
        ...(conclusion.outwardUnproven ? ["outward was not proven"] : []),
        `answers: ● good, ✕ bad${pods}`,
    ];
}

/** Whether anything was observed: under proven attacks, or without any, but not without a steady state. */
const hasBegun = ({ plan, conclusion, attackedAt }: Journal) =>
    isAttack(plan) ? attackedAt !== undefined : conclusion.verdict !== "ABORTED";

const notUndone = (plan: Journal["plan"]) => (onlyObserves(plan) ? [] : ["not undone yet"]);

function recoveryOf({ recovery, plan }: Journal): string | undefined {
    return recovery && `recovered ${sinceUndone(recovery, isAttack(plan))}`;
}

/** The picture in words, for screen readers. */
function inWords(journal: Journal): string {
    const { conclusion, attackedAt, before, checks, actions, plan, recovery } = journal;
    const counts = checks.map(({ name, answers }) => {
        const { check } = plan.checks.find((planned) => planned.name === name)!;
        const what = checkKindOf(check).asks ? "requests to" : "probes of";
        return `${answers.length} ${what} ${name}, ${answers.filter(({ good }) => !good).length} of them bad`;
    });
    const good = `${conclusion.successRate} of the counted answers were good`;
    const whileAttacked = attackedAt === undefined ? "no attack was proven" : `under attack, ${good}`;
    const attack = isAttack(plan) ? whileAttacked : `without an attack, ${good}`;
    const done = actions.length === 0 ? "" : `; done meanwhile: ${actions.map(({ action }) => action).join(", ")}`;
    const recovered = recoveryOf(journal);
    const after = recovered === undefined ? "" : `; ${recovered}`;
    const beside = `${shareIn("before", before)}${shareIn("after", recovery?.checks)}`;
    return `${[...counts, attack].join("; ")}${beside}${done}${after}. ${conclusion.reason}`;
}

function shareIn(when: string, observed: readonly Observed[] = []): string {
    const answers = observed.flatMap((one) => one.answers);
    const good = answers.filter((answer) => answer.good).length;
    return answers.length === 0 ? "" : `; ${when}, ${good} of ${answers.length} answers were good`;
}

/** Shows when the attacks lasted. A grace period that is too short for its name has it above the other name. */
function spanMarks(journal: Journal, { x, zero, end }: TimeAxis, top: number, bottom: number): string[] {
    if (!hasBegun(journal)) return [];
    const { plan, aborted } = journal;
    const from = journal.attackedAt ?? zero;
    // The attacks of an aborted run have ended, but its last answers may have come later.
    const attackEnd = Math.min(end, aborted?.endedAt ?? end);
    const graceEnd = Math.min(attackEnd, from + plan.window.graceMs);
    const spans = [
        { kind: "grace", name: "grace, not counted", from, to: graceEnd },
        isAttack(plan)
            ? { kind: "attack", name: "under attack, counted", from: graceEnd, to: attackEnd }
            : { kind: "window", name: "no attack, all counted", from, to: attackEnd },
    ].filter(({ from, to }) => to > from);
    return [
        ...spans.map(({ kind, from, to }) => rect(kind, x(from), top, x(to) - x(from), bottom - top)),
        ...spans.map(({ kind, name, from, to }) => {
            const above = kind === "grace" && x(to) - x(from) < widthOf(name);
            const fits = x(from) + widthOf(name) <= width - margin.right;
            return label(
                fits ? x(from) : width - margin.right,
                top - (above ? 26 : 8),
                name,
                "faint",
                fits ? "start" : "end",
            );
        }),
        ...(isAttack(plan) ? [line("mark", x(from), top - 6, x(from), bottom)] : []),
    ];
}

function abortMark({ aborted }: Journal, { x, zero, end }: TimeAxis, top: number, bottom: number): string[] {
    if (aborted === undefined) return [];
    const at = x(Math.min(end, zero + aborted.afterMs));
    const { check, rate, below } = aborted;
    return [
        line("mark", at, top - 22, at, bottom, `aborted: ${check}, ${rate} succeeded (abort below ${below})`),
        label(at - 6, top - 22, "aborted", "faint", "end"),
    ];
}

/** At most eleven times, in minutes if all of them are whole minutes. */
function timeMarks({ x, begin, end, left, right, zero, before, after }: TimeAxis, y: number): string[] {
    const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800];
    const step = steps.find((seconds) => (end - begin) / 1_000 / seconds <= 10) ?? 3_600;
    const marks = [
        line("line", left, y, right, y),
        ...Object.entries({ before, after }).flatMap(([name, span]) =>
            span === undefined
                ? []
                : [
                      line("line", span.left, y, span.right, y),
                      label((span.left + span.right) / 2, y + 20, name, "faint", "middle"),
                  ],
        ),
    ];
    for (let second = Math.ceil((begin - zero) / 1_000 / step) * step; zero + second * 1_000 <= end; second += step) {
        const text = step < 60 ? `${second} s` : `${second / 60} min`;
        marks.push(label(x(zero + second * 1_000), y + 20, text, "faint", "middle"));
    }
    return marks;
}
