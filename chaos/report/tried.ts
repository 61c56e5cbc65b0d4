import { groupedBy } from "../values/grouped";
import { type Calls, type Edge, edgesAmong, triesOf } from "./edges";
import type { Journal } from "./journal-schema";
import { clusterNames } from "./place";
import type { ReportedRun } from "./reported-run";

/** A run whose journal can be read. */
export type ReadRun = ReportedRun & { journal: Journal };

/**
 * What was tried on an edge. There is no score: it would hide what to try and what to mend.
 *
 * Of each experiment, the last run counts that PASSED or FAILED. An INCONCLUSIVE one counts only if there is no such
 * run, and is mentioned if it came later. Of several experiments, the worst verdict counts: one that passes does not
 * mend what another one has found. Of several runs with this verdict, the oldest counts: no more than that is known of
 * the edge. An ABORTED run has tried nothing, and may name what does not exist: it is left out.
 */
export interface TriedEdge extends Edge {
    /** Of attacks and actions. Empty if the edge was never tried. */
    kinds: string[];
    runs: number;
    /** The run that counts. Absent if the edge was never tried. */
    last?: ReadRun;
    /** Whether the newest run of an experiment that counts was INCONCLUSIVE, and later than the run that counts. */
    isInconclusiveSince: boolean;
}

/** From bad to good. Those that were never tried come before those that are good. */
const order = ["FAILED", "INCONCLUSIVE", "never", "PASSED"] as const;

const verdictOf = (run: ReadRun | undefined) => run?.journal.conclusion.verdict;
const rankOf = (run: ReadRun | undefined) => order.findIndex((one) => one === (verdictOf(run) ?? "never"));

/**
 * The edges that runs and calls know, with what was tried on each.
 *
 * @returns `unlisted`: the namespaces whose workloads no journal lists, so what was never tried there is not known
 */
export function triedEdges(
    runs: readonly ReportedRun[],
    calls: Calls = [],
): { edges: TriedEdge[]; unlisted: string[] } {
    const read = runs.filter((run): run is ReadRun => run.journal !== undefined);
    const begun = read.filter((run) => verdictOf(run) !== "ABORTED");
    const oldestFirst = begun.sort((a, b) => a.startedAt - b.startedAt);
    const nameOf = clusterNames(oldestFirst.map(({ journal }) => journal));
    const clusters = [...groupedBy(oldestFirst, ({ journal }) => nameOf(journal))];
    const all = clusters.map(([cluster, ofCluster]) => {
        const { edges, unlisted } = triedInCluster(ofCluster, calls);
        const named = (name: string) => (clusters.length > 1 ? `${cluster}/${name}` : name);
        const renamed = edges.map(({ caller, callee, ...edge }) => ({
            ...(caller !== undefined && { caller: named(caller) }),
            ...(callee !== undefined && { callee: named(callee) }),
            ...edge,
        }));
        return { edges: renamed, unlisted: unlisted.map(named) };
    });
    const text = ({ callee = "", caller = "" }: Edge) => `${callee}\0${caller}`;
    return {
        edges: all
            .flatMap(({ edges }) => edges)
            .sort((a, b) => rankOf(a.last) - rankOf(b.last) || text(a).localeCompare(text(b))),
        unlisted: all.flatMap(({ unlisted }) => unlisted).sort(),
    };
}

function triedInCluster(runs: readonly ReadRun[], calls: Calls): { edges: TriedEdge[]; unlisted: string[] } {
    const namespaces = [...groupedBy(runs, ({ journal }) => journal.plan.namespace)].map(([namespace, inside]) => ({
        namespace,
        workloads: listedIn(inside),
    }));
    const known = namespaces.flatMap(({ namespace, workloads = [] }) => edgesAmong(workloads, namespace, calls));
    const tries = runs.flatMap((run) => triesOf(run.journal, known).map((one) => ({ ...one, run })));
    const keyOf = ({ caller, callee }: Edge) => JSON.stringify([caller, callee]);
    const triesByEdge = groupedBy(tries, ({ edge }) => keyOf(edge));
    const edges = new Map([...known, ...tries.map(({ edge }) => edge)].map((edge) => [keyOf(edge), edge]));
    return {
        edges: [...edges].map(([key, edge]) => ({ ...edge, ...outcomeOf(triesByEdge.get(key) ?? []) })),
        unlisted: namespaces.flatMap(({ namespace, workloads }) => (workloads ? [] : namespace)),
    };
}

const listedForMs = 30 * 86_400_000;

/**
 * What journals list up to 30 days before the newest one that does: each has only workloads with running pods.
 *
 * @param runs of a namespace, the oldest first
 * @returns undefined if none does
 */
function listedIn(runs: readonly ReadRun[]): string[] | undefined {
    const listing = runs.filter(({ journal }) => journal.workloads);
    const newest = listing.at(-1);
    if (newest === undefined) return undefined;
    const recent = listing.filter(({ startedAt }) => startedAt >= newest.startedAt - listedForMs);
    return [...new Set(recent.flatMap(({ journal }) => journal.workloads!))];
}

/** @param tries the oldest first */
function outcomeOf(tries: readonly { kind: string; run: ReadRun }[]): Omit<TriedEdge, keyof Edge> {
    const runs = [...new Set(tries.map(({ run }) => run))];
    const experiments = [...groupedBy(runs, ({ experiment }) => experiment).values()].map((ofOne) => {
        const decided = ofOne.findLast((run) => verdictOf(run) !== "INCONCLUSIVE");
        const newest = ofOne.at(-1)!;
        return { counting: decided ?? newest, newest };
    });
    const counting = experiments.map((one) => one.counting);
    const [last] = counting.sort((a, b) => rankOf(a) - rankOf(b) || a.startedAt - b.startedAt);
    return {
        kinds: [...new Set(tries.map(({ kind }) => kind))].sort(),
        runs: runs.length,
        ...(last && { last }),
        isInconclusiveSince: experiments.some(
            ({ counting, newest }) => newest !== counting && newest.startedAt > last!.startedAt,
        ),
    };
}
