import { basename } from "node:path";
import { describeMilliseconds } from "../../shared/duration";
import { kindOf } from "../attacks/attack";
import type { Journal } from "../journal";
import { sinceAttack } from "../verdict";
import { element, escape } from "./markup";
import { timelineSvg } from "./timeline";

const style = `
    :root { color-scheme: light dark; --ink: #1c2430; --faint: #6a7586; --line: #d8dee7; --paper: #ffffff; --PASSED: #1b7f5c; --FAILED: #c2410c; --INCONCLUSIVE: #8a6d00; --ABORTED: #6a7586; }
    @media (prefers-color-scheme: dark) { :root { --ink: #e8edf4; --faint: #9aa7b8; --line: #333d4a; --paper: #12171e; --PASSED: #4fd1a1; --FAILED: #ff9a62; --INCONCLUSIVE: #e5c558; --ABORTED: #9aa7b8; } }
    body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
    a { color: inherit; }
    h1 { font-size: 1.5rem; margin-bottom: 0.25rem; }
    .verdict { font-weight: 700; }
    ${["PASSED", "FAILED", "INCONCLUSIVE", "ABORTED"].map((verdict) => `.${verdict} { color: var(--${verdict}); }`).join(" ")}
    .faint { color: var(--faint); }
    svg, img { width: 100%; height: auto; }
    table { border-collapse: collapse; width: 100%; }
    th, td { text-align: left; vertical-align: top; padding: 0.4rem 1rem 0.4rem 0; border-bottom: 1px solid var(--line); }
    th { font-weight: 600; white-space: nowrap; }
    pre { overflow-x: auto; font-size: 0.8rem; max-height: 30rem; border: 1px solid var(--line); padding: 0.75rem; }`;

/** What is told of a run: what it is, and what it was. */
type Row = [name: string, value: string];

/** A run as a page of its own: the verdict, the picture, the figures, the journal. Needs nothing but itself. */
export function runPage(journal: Journal): string {
    const { conclusion, plan, recovery } = journal;
    const rows: Row[] = [
        ["Hypothesis", conclusion.hypothesis],
        ...attackRows(journal),
        ["Requests", `${conclusion.requests}, ${conclusion.successRate} of the counted ones good`],
        ...(conclusion.checks.length > 1
            ? conclusion.checks.map(({ name, held, requests, successRate }): Row => [
                  name,
                  `${held ? "held" : "did not hold"}: ${requests} looks, ${successRate} of the counted ones good`,
              ])
            : []),
        ...journal.actions.map(({ action, begunAt, problem }): Row => [
            problem === undefined ? "Done" : "Not done",
            `${action}, ${since(begunAt, journal)}${problem === undefined ? "" : `: ${problem}`}`,
        ]),
        ["First failure", sinceAttack(conclusion.timeToFirstFailureMs)],
        ["Stable under attack", sinceAttack(conclusion.timeToStabilityMs)],
        [
            "Recovery",
            recovery
                ? `${describeMilliseconds(recovery.recoveredAfterMs)} after the attack was undone`
                : "not undone yet",
        ],
        ["Run", `${plan.run}, ${new Date(journal.startedAt).toISOString()}`],
    ];
    return page(`${conclusion.name}: ${conclusion.verdict}`, [
        element("p", { class: "faint" }, [element("a", { href: "index.html" }, ["All runs"])]),
        element("h1", {}, [
            escape(conclusion.name),
            ": ",
            element("span", { class: `verdict ${conclusion.verdict}` }, [conclusion.verdict]),
        ]),
        element("p", {}, [escape(conclusion.reason)]),
        timelineSvg(journal),
        element(
            "table",
            {},
            rows.map(([name, value]) =>
                element("tr", {}, [
                    element("th", { scope: "row" }, [escape(name)]),
                    element("td", {}, [escape(value)]),
                ]),
            ),
        ),
        element("details", {}, [
            element("summary", {}, ["Journal"]),
            element("pre", {}, [escape(JSON.stringify(journal, undefined, 2))]),
        ]),
    ]);
}

/** Whom each attack was for. */
function attackRows({ attacks, plan }: Journal): Row[] {
    if (attacks.length === 0) return [["Attack", "none"]];
    return attacks.map(({ name, targets }, index) => {
        const { attack } = plan.attacks[index]!;
        return [
            "Attack",
            `${name} on ${targets.map(({ namespace, pod, container }) => `${namespace}/${pod}/${container}`).join(", ") || "nobody"}: ${kindOf(attack).describe(attack)}`,
        ];
    });
}

function since(at: number, { attackedAt, startedAt }: Journal): string {
    return attackedAt === undefined
        ? `${describeMilliseconds(at - startedAt)} after the beginning`
        : sinceAttack(at - attackedAt);
}

/** The list of all runs, the newest first. */
export function indexPage(journals: readonly Journal[]): string {
    const rows = journals.map((journal) => {
        const { conclusion, startedAt } = journal;
        const link = element("a", { href: basename(conclusion.journal).replace(/json$/, "html") }, [
            escape(`${conclusion.name}, run ${conclusion.run}`),
        ]);
        const cells = [
            new Date(startedAt).toISOString().replace("T", " ").slice(0, 19),
            link,
            element("span", { class: `verdict ${conclusion.verdict}` }, [conclusion.verdict]),
            escape(conclusion.reason),
        ];
        return element(
            "tr",
            {},
            cells.map((cell) => element("td", {}, [cell])),
        );
    });
    const head = element(
        "tr",
        {},
        ["When (UTC)", "Run", "Verdict", "Reason"].map((name) => element("th", { scope: "col" }, [name])),
    );
    return page("Experiment runs", [element("h1", {}, ["Experiment runs"]), element("table", {}, [head, ...rows])]);
}

function page(title: string, contents: readonly string[]): string {
    const head = [
        `<meta charset="utf-8"><meta name="viewport" content="width=device-width">`,
        element("title", {}, [escape(title)]),
        element("style", {}, [style]),
    ];
    return `<!doctype html>\n${element("html", { lang: "en" }, [element("head", {}, head), element("body", {}, [element("main", {}, contents)])])}\n`;
}
