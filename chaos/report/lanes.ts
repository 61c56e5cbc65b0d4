import { fitted, label, line, margin, relative, type TimeAxis, width, widthOf } from "./drawing";
import type { Journal } from "./journal-schema";

const maxLanes = 12;

/** Draws a lane, given where its name and its bar are. */
export type LaneMarks = (nameY: number, barY: number) => string[];

export function actionLane(
    { action, begunAt, endedAt, problem }: Journal["actions"][number],
    { x, zero }: TimeAxis,
): LaneMarks {
    const [from, to] = [x(begunAt), Math.max(x(endedAt), x(begunAt) + 3)];
    const title = `${relative(begunAt, zero)}: ${action}${problem === undefined ? "" : `, which failed: ${problem}`}`;
    return (nameY, barY) => [
        laneName(nameY, problem === undefined ? action : `✕ ${action}`),
        line(problem === undefined ? "action" : "unready", from, barY, to, barY, title),
    ];
}

/** A pod that was attacked, or whose readiness changed. */
interface AffectedPod {
    pod: string;
    attack?: string;
    changes: Journal["readiness"];
    /** When it was killed, if no pod of its name has become ready since: a StatefulSet's pods keep their names. */
    killedAt?: number;
}

/** A lane for each target, then for each pod whose readiness changed, the first first. The last one counts the rest. */
export function podLanes(journal: Journal, axis: TimeAxis): LaneMarks[] {
    const affected = affectedPods(journal);
    const more = affected.slice(maxLanes);
    // With several attacks, the lane names its own.
    const lanes = affected.slice(0, maxLanes).map((pod) => podLane(pod, journal.attacks.length > 1, axis));
    return more.length === 0 ? lanes : [...lanes, (nameY) => [laneName(nameY, restInWords(more), "faint")]];
}

function affectedPods({ readiness, attacks }: Journal): AffectedPod[] {
    const attackOn = new Map(
        // Replacements of killed pods are killed, too.
        attacks.flatMap(({ name, targets, kills = [] }) =>
            [...targets, ...kills].map(({ pod }) => [pod, name] as const),
        ),
    );
    const killsOf = (pod: string) => attacks.flatMap(({ kills = [] }) => kills.filter((kill) => kill.pod === pod));
    const firstChange = ({ changes }: AffectedPod) => changes[1]?.at ?? Number.MAX_VALUE;
    return [...new Set(readiness.map(({ pod }) => pod))]
        .map((pod) => {
            const changes = readiness.filter((change) => change.pod === pod);
            const killedAt = killsOf(pod).at(-1)?.at;
            // A pod that was killed before it was first seen may be ready in the first change.
            const isBack = killedAt !== undefined && changes.slice(1).some(({ at, ready }) => ready && at > killedAt);
            return { pod, attack: attackOn.get(pod), changes, ...(!isBack && { killedAt }) };
        })
        .filter(({ attack, changes }) => attack !== undefined || changes.length > 1)
        .sort(
            (a, b) =>
                Number(b.attack !== undefined) - Number(a.attack !== undefined) ||
                firstChange(a) - firstChange(b) ||
                a.pod.localeCompare(b.pod),
        );
}

function podLane({ pod, attack, changes, killedAt }: AffectedPod, namesAttack: boolean, axis: TimeAxis): LaneMarks {
    const { x, begin } = axis;
    // A kill has the time of the cluster's clock, which may differ from this machine's.
    const end = Math.min(axis.end, Math.max(begin, killedAt ?? axis.end));
    const named = attack !== undefined && namesAttack ? attack : "";
    return (nameY, barY) => [
        laneName(nameY, attack === undefined ? pod : `✕ ${pod}`, attack === undefined ? "faint" : "", named),
        ...(named === "" ? [] : [label(width - margin.right, nameY, named, "faint over", "end")]),
        ...changes
            .map(({ at, ready }, index) => ({ at, ready, until: Math.min(end, changes[index + 1]?.at ?? end) }))
            .filter(({ at, until }) => until > at)
            .map(({ at, ready, until }) =>
                line(ready ? "ready" : "unready", x(at), barY, x(until), barY, ready ? "ready" : "not ready"),
            ),
        ...(killedAt === undefined ? [] : [line("killed", x(end), barY - 7, x(end), barY + 7, "killed")]),
    ];
}

function restInWords(pods: readonly AffectedPod[]): string {
    const attacked = pods.filter(({ attack }) => attack !== undefined).length;
    const more = `and ${pods.length} more pod${pods.length === 1 ? "" : "s"}`;
    return attacked === 0 ? more : `${more}, ${attacked} attacked`;
}

/** @param beside the text at the other end of the line */
function laneName(y: number, name: string, kind = "", beside = ""): string {
    const space = width - margin.left - margin.right - widthOf(beside) - 24;
    return label(margin.left, y, fitted(name, space), `${kind} over`.trim());
}
