import { attackKindOf } from "../kinds/attacks/registry";
import { describeCounts } from "../kinds/attacks/counted";
import { describeUsage } from "../kinds/attacks/stress/usage";
import { describeChange } from "../kinds/checks/change-limits";
import { isAttack, onlyObserves } from "../definition/plan";
import { describeMilliseconds, formatDuration } from "../values/duration";
import { groupedBy } from "../values/grouped";
import { pageOfReason, verdictAndCode } from "../values/reasons";
import { assumptions, distributionsSvgs } from "./distributions";
import { colors } from "./drawing";
import { type Conclusion, describeUnproven } from "./conclusion";
import { describeDelivery } from "./deliveries";
import type { Journal } from "./journal-schema";
import { element, escape } from "./markup";
import { timelineSvg } from "./timeline";
import { describeRequests, successOf } from "./rates";
import { sinceAttack, sinceUndone } from "../values/since";
import { verdicts } from "./verdict";

const style = `
    :root {
        color-scheme: light dark; ${colors.light}
        --PASSED: #1b7f5c; --FAILED: #c2410c; --INCONCLUSIVE: #8a6d00; --ABORTED: #6a7586;
    }
    @media screen and (prefers-color-scheme: dark) {
        :root {
            ${colors.dark}
            --PASSED: #4fd1a1; --FAILED: #ff9a62; --INCONCLUSIVE: #e5c558; --ABORTED: #9aa7b8;
        }
    }
    body {
        max-width: 52rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif;
        color: var(--ink); background: var(--paper); overflow-wrap: anywhere;
    }
    a { color: inherit; }
    h1 { font-size: 1.5rem; margin-bottom: 0.25rem; }
    h2 { font-size: 1.2rem; }
    .verdict { font-weight: 700; }
    ${verdicts.map((verdict) => `.${verdict} { color: var(--${verdict}); }`).join(" ")}
    .faint { color: var(--faint); }
    .timeline { width: 100%; height: auto; }
    table { border-collapse: collapse; width: 100%; }
    th, td { text-align: left; vertical-align: top; padding: 0.4rem 1rem 0.4rem 0; }
    th { font-weight: 600; width: 30%; }
    tr { border-bottom: 1px solid var(--line); break-inside: avoid; }
    a:focus-visible { outline: 2px solid var(--ink); outline-offset: 1px; }
    pre {
        overflow-x: auto; font-size: 0.8rem; max-height: 30rem; border: 1px solid var(--line); padding: 0.75rem;
    }
    @media print {
        :root { color-scheme: light; }
        body { margin: 0 auto; }
        .timeline { break-inside: avoid; }
        pre { max-height: none; white-space: pre-wrap; }
    }`;

type Row = [name: string, value: string];

/** A page about one run: the verdict, the picture, the figures, the journal. It needs no other file. */
export function runPage(journal: Journal): string {
    const { conclusion } = journal;
    const tableRow = ([name, value]: Row) =>
        element("tr", {}, [element("th", { scope: "row" }, [breakable(name)]), element("td", {}, [escape(value)])]);
    return page(`${conclusion.name}: ${conclusion.verdict}`, [
        element("p", { class: "faint" }, [element("a", { href: "index.html" }, ["All runs"])]),
        element("h1", {}, [escape(conclusion.name), ": ", verdictMark(conclusion)]),
        element("p", {}, [escape(conclusion.reason)]),
        ...(conclusion.code ? [element("p", {}, ["What to do: ", pageOfReason(conclusion.code)])] : []),
        ...adviceParts(conclusion),
        timelineSvg(journal, { onPage: true }),
        ...distributionParts(journal),
        element("table", {}, rowsOf(journal).map(tableRow)),
        ...boundPart(conclusion),
        element("details", {}, [
            element("summary", {}, ["Journal"]),
            element("pre", {}, [escape(JSON.stringify(journal, undefined, 2))]),
        ]),
    ]);
}

/** How the latencies of compared checks are distributed, with what the comparison assumes. */
function distributionParts(journal: Journal): string[] {
    const pictures = distributionsSvgs(journal);
    if (pictures.length === 0) return [];
    return [
        element("h2", {}, [`Before and ${isAttack(journal.plan) ? "under attack" : "in the window"}`]),
        ...pictures,
        element("p", { class: "faint" }, [escape(assumptions(isAttack(journal.plan)))]),
    ];
}

/** What the bounds of rates assume: the page may be all that somebody is given. An open check has one in its reason. */
const boundPart = ({ checks, reason }: Conclusion): string[] =>
    checks.every(({ bound }) => bound === undefined) && !/\d% confidence: at (least|most)/.test(reason)
        ? []
        : [
              element("p", { class: "faint" }, [
                  "The confidence in a success rate assumes that each request has the same chance to succeed, " +
                      "independently of the others. Requests to one pod, or in one second, mostly succeed or fail " +
                      "together, and show less. It is about this run: its targets, its window and its load.",
              ]),
          ];

const adviceParts = ({ advice = [] }: Conclusion): string[] =>
    advice.flatMap(({ seen, change, command, experiment }) => [
        element("p", {}, [escape(`${seen}. ${change}:`)]),
        element("pre", {}, [escape(command)]),
        element("p", {}, [escape(`To show it: ${experiment}`)]),
    ]);

function rowsOf(journal: Journal): Row[] {
    const { conclusion, plan } = journal;
    return [
        ["Hypothesis", conclusion.hypothesis],
        ...beginRow(journal),
        ...attackRows(journal),
        ...usageRows(journal),
        ...deliveryRows(journal),
        ...establishedRows(journal),
        ...unprovenRows(journal),
        ["Requests", describeRequests(journal)],
        ...checkRows(journal),
        ...changeRows(journal),
        ...abortRows(journal),
        ...actionRows(journal),
        ["First failure", sinceAttack(conclusion.timeToFirstFailureMs, isAttack(plan))],
        [isAttack(plan) ? "Stable under attack" : "Stable", sinceAttack(conclusion.timeToStabilityMs, isAttack(plan))],
        ...recoveryRow(journal),
        ["Run", `began ${utc(journal.startedAt)}, named ${plan.run}`],
    ];
}

function beginRow({ plan: { begin }, conclusion: { code }, waitedMs }: Journal): Row[] {
    if (begin === undefined) return [];
    // A run that lacks rights, for example, ends before that.
    const unmet = code === "begin-not-met" ? "did not hold in time" : "the run ended before that";
    const how = waitedMs === undefined ? unmet : `held after ${describeMilliseconds(waitedMs)}`;
    return [["Begins when", `${begin.when.name} holds, within ${formatDuration(begin.withinMs)}; ${how}`]];
}

function recoveryRow({ plan, recovery }: Journal): Row[] {
    if (recovery) return [["Recovery", sinceUndone(recovery, isAttack(plan))]];
    return onlyObserves(plan) ? [] : [["Recovery", "not undone yet"]];
}

function attackRows({ attacks, plan }: Journal): Row[] {
    if (attacks.length === 0) return [["Attack", "none"]];
    return attacks.map(({ name, targets, counts, hosts = [], refused = [] }) => {
        const { attack } = plan.attacks.find((planned) => planned.name === name)!;
        const counted = counts ? ` (${describeCounts(counts)})` : "";
        const named = hosts.map(({ host, addresses }) => ` (${host}: ${addresses.join(", ")})`).join("");
        const hit = targets.map(({ namespace, pod, container }) => `${namespace}/${pod}/${container}`).join(", ");
        const told = `${attackKindOf(attack).describe(attack)}${counted}${named}${describeRefused(refused)}`;
        return ["Attack", `${name} on ${hit || "nothing"}: ${told}`];
    });
}

/** Names each pod, but each problem only once: a budget mostly gives the same answer for all pods of a Deployment. */
const describeRefused = (refused: NonNullable<Journal["attacks"][number]["refused"]>): string =>
    [...groupedBy(refused, ({ problem }) => problem)]
        .map(([problem, kills]) => `; refused the eviction of ${kills.map(({ pod }) => pod).join(", ")}: ${problem}`)
        .join("");

const usageRows = ({ attacks }: Journal): Row[] =>
    attacks.flatMap(({ usage = [] }) => usage.map((one): Row => ["Usage", describeUsage(one)]));

const deliveryRows = ({ deliveries = [] }: Journal): Row[] =>
    deliveries.map((one): Row => ["Sent", describeDelivery(one)]);

function establishedRows({ conclusion: { established = [] } }: Journal): Row[] {
    return established.flatMap(({ attack, direction, became, reason }): Row[] => {
        const of = established.length === 1 ? "" : ` of ${attack}`;
        const told = reason === undefined ? became : `${became}: ${reason}`;
        return direction ? [[`Established connections${of} (${direction})`, told]] : [];
    });
}

function unprovenRows({ conclusion }: Journal): Row[] {
    return (conclusion.outwardUnproven ?? []).map((one) => [`Not proven of ${one.attack}`, describeUnproven([one])!]);
}

function checkRows({ plan, conclusion: { checks } }: Journal): Row[] {
    if (checks.length < 2) return [];
    return checks.map(({ name, held, requests, ...rate }) => [
        name,
        `${held ? "held" : "did not hold"}: ${requests} checks, ${successOf(plan, rate)}`,
    ]);
}

function changeRows({ plan, conclusion: { checks } }: Journal): Row[] {
    const when = isAttack(plan) ? "under attack" : "in the window";
    return checks.flatMap(({ name, changes = [] }) =>
        changes.map((change): Row => [`Compared: ${name}`, describeChange(change, when)]),
    );
}

function abortRows({ aborted, plan }: Journal): Row[] {
    if (aborted === undefined) return [];
    const { check, afterMs, rate, answers, below, overMs } = aborted;
    const measured = `${rate} of ${answers} answers in the last ${describeMilliseconds(overMs)} were good`;
    return [["Aborted", `${sinceAttack(afterMs, isAttack(plan))}: ${check}, ${measured} (abort below ${below})`]];
}

function actionRows(journal: Journal): Row[] {
    return journal.actions.map(({ action, begunAt, problem }) => [
        problem === undefined ? "Done" : "Not done",
        `${action}, ${since(begunAt, journal)}${problem === undefined ? "" : `: ${problem}`}`,
    ]);
}

function since(at: number, { attackedAt, startedAt }: Journal): string {
    if (attackedAt !== undefined) return sinceAttack(at - attackedAt);
    return `${describeMilliseconds(at - startedAt)} after the start`;
}

/** Such as `2026-11-24 20:54:12 UTC`. */
export const utc = (at: number) => `${new Date(at).toISOString().replace("T", " ").slice(0, 19)} UTC`;
/** Lets a narrow window break a name after a slash of its path. */
const breakable = (name: string) => escape(name).replace(/(?<=\w)\//g, "/<wbr>");
export const verdictMark = (conclusion: Conclusion) =>
    element("span", { class: `verdict ${conclusion.verdict}` }, [verdictAndCode(conclusion)]);

/** @param more style of this page alone */
export function page(title: string, contents: readonly string[], more = ""): string {
    const head = [
        `<meta charset="utf-8"><meta name="viewport" content="width=device-width">`,
        element("title", {}, [escape(title)]),
        element("style", {}, [style + more]),
    ];
    const body = element("body", {}, [element("main", {}, contents)]);
    return `<!doctype html>\n${element("html", { lang: "en" }, [element("head", {}, head), body])}\n`;
}
