import { actionKindOf, inTurn } from "../kinds/actions/registry";
import { attackKindOf } from "../kinds/attacks/registry";
import { attributeOf } from "../targets/attributes";
import { peersOf } from "../targets/discover";
import type { Journal } from "./journal-schema";

/**
 * A caller and what it calls, by names such as `demo/gateway`.
 *
 * Who is there: a journal lists the workloads of its namespace that had running pods, as the agent or the API server
 * knew them. Neither knows who calls whom. An edge is what somebody says who knows the application (`Calls`), if both
 * workloads are there, or what an attack says by its peers. Where no caller is known, the edge has none.
 */
export interface Edge {
    caller?: string;
    /** Absent if all that the caller calls is meant, and none of that is known. */
    callee?: string;
}

/** Names of Deployments of one namespace, each a caller and what it calls. */
export type Calls = readonly (readonly [caller: string, callee: string])[];

/** An edge for each workload of a namespace and each of its callers, or one without a caller if none is known. */
export function edgesAmong(workloads: readonly string[], namespace: string, calls: Calls): Edge[] {
    const names = workloads.map(nameOf);
    return names.flatMap((callee) => {
        const callers = calls.flatMap(([from, to]) => (`${namespace}/${to}` === callee ? `${namespace}/${from}` : []));
        const there = callers.filter((caller) => names.includes(caller));
        return there.length === 0 ? [{ callee }] : between(there, [callee]);
    });
}

/** An edge, and the kind of attack or action by which a run tried it. */
export interface Try {
    edge: Edge;
    kind: string;
}

/**
 * The edges that a run tried. An attack tries those into its targets; one that denies only what leaves them, those out
 * of them. If it denies both, nothing shows how a target does without what it calls: nobody can ask it. An action tries
 * the edges into the workload that it changes, if it was done: an abort or another action's failure may prevent it.
 *
 * @param known edges, which are tried if an attack names only one of the two ends
 */
export const triesOf = (journal: Journal, known: readonly Edge[]): Try[] => [
    ...journal.plan.attacks.flatMap((planned) =>
        edgesOf(planned, journal, known).map((edge) => ({ edge, kind: planned.attack.kind })),
    ),
    ...inTurn(journal.plan.actions).flatMap((action, index) => {
        // They are performed in order, so these are the first ones of the plan.
        const performed = journal.actions[index];
        if (performed === undefined || performed.problem !== undefined) return [];
        const workload = actionKindOf(action).workload?.(action);
        if (workload === undefined) return [];
        const changed = `${attributeOf(workload.kind)}=${workload.name},k8s.namespace=${journal.plan.namespace}`;
        return withEnd({ callee: nameOf(changed) }, known).map((edge) => ({ edge, kind: action.kind }));
    }),
];

function edgesOf(
    { name, target, attack }: Journal["plan"]["attacks"][number],
    { attacks }: Journal,
    known: readonly Edge[],
): Edge[] {
    const done = attacks.find((one) => one.name === name);
    const targets = (done?.workloads ?? workloadsNamed(target, done?.targets)).map(nameOf);
    const { inward, outward, peers, lookup, addresses } = attackKindOf(attack).proof(attack);
    if (lookup) return between(targets, ["DNS"]);
    if (addresses) {
        const hosts = addresses.hosts.map(({ host, port }) => (port === undefined ? host : `${host}:${port}`));
        return between(targets, [...hosts, ...addresses.blocks.map(({ cidr }) => cidr)]);
    }
    if (peers) {
        const others = (done?.peerWorkloads ?? [peersOf(attack)!]).map(nameOf);
        const of = { ingress: between(others, targets), egress: between(targets, others) };
        const denied = peers.ways.flatMap((way) => of[way]);
        // If both ways are denied, one of them may be known as the way of the call.
        const isOther = ({ caller, callee }: Edge) => isAmong(known, { caller: callee, callee: caller });
        return peers.ways.length === 1 ? denied : denied.filter((edge) => isAmong(known, edge) || !isOther(edge));
    }
    return targets.flatMap((one) => withEnd(outward && !inward ? { caller: one } : { callee: one }, known));
}

const between = (callers: readonly string[], callees: readonly string[]): Edge[] =>
    callers.flatMap((caller) => callees.map((callee) => ({ caller, callee })));

const isAmong = (edges: readonly Edge[], { caller, callee }: Edge) =>
    edges.some((one) => one.caller === caller && one.callee === callee);

/** The known edges with an end, or the edge of which only this end is known. */
function withEnd(end: Edge, known: readonly Edge[]): Edge[] {
    const found = known.filter(
        ({ caller, callee }) => caller === (end.caller ?? caller) && callee === (end.callee ?? callee),
    );
    return found.length > 0 ? found : [end];
}

/** What an attribute expression names with a single workload, pod or container. */
const single = /^k8s\.(deployment|statefulset|daemonset|job|replicaset|pod|container)(?:\.name)?=([^*|,]+)$/;

/** What an attack's target says, where an earlier version has not noted the workloads; else their containers. */
function workloadsNamed(target: string, targets: Journal["attacks"][number]["targets"] = []): string[] {
    const containers = targets.map((one) => `k8s.container.name=${one.container},k8s.namespace=${one.namespace}`);
    return single.test(split(target).rest) ? [target] : [...new Set(containers)];
}

/** Such as `demo/hot-deals` for a Deployment, and `demo/statefulset/db` for anything else. */
function nameOf(expression: string): string {
    const { namespace, rest } = split(expression);
    const [, kind, name] = single.exec(rest) ?? [];
    const shownKind = kind === undefined || kind === "deployment" ? [] : [kind];
    return [namespace, ...shownKind, name ?? (rest || "*")].join("/");
}

/** The namespace of an expression, which plans always have, and its other conditions. */
function split(expression: string): { namespace: string; rest: string } {
    const conditions = expression.split(",").map((condition) => condition.replace(/\s*(!?=)\s*/, "$1").trim());
    const inNamespace = "k8s.namespace=";
    const isNamespace = (condition: string) => condition.startsWith(inNamespace);
    return {
        namespace: conditions.find(isNamespace)?.slice(inNamespace.length) ?? "",
        rest: conditions.filter((condition) => !isNamespace(condition)).join(),
    };
}
