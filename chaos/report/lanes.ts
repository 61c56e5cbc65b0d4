import { label, line, margin, relative, rowName, shortened, type TimeAxis, width } from "./drawing";
import type { Journal } from "./journal-schema";

const maxLanes = 12;

/** What a lane shows, given its vertical position. */
export type LaneMarks = (y: number) => string[];

/** The time of an action; a point if it took none. */
export function actionLane(
    { action, begunAt, endedAt, problem }: Journal["actions"][number],
    { x, zero }: TimeAxis,
): LaneMarks {
    const [from, to] = [x(begunAt), Math.max(x(endedAt), x(begunAt) + 3)];
    const title = `${relative(begunAt, zero)}: ${action}${problem === undefined ? "" : `, which failed: ${problem}`}`;
    return (y) => [
        rowName(y, shortened(action, 26)),
        line(problem === undefined ? "action" : "unready", from, y, to, y, title),
    ];
}

/** A lane for each target, then for each pod whose readiness changed. */
export function podLanes({ readiness, attacks }: Journal, { x, end }: TimeAxis): LaneMarks[] {
    const attackOn = new Map(attacks.flatMap(({ name, targets }) => targets.map(({ pod }) => [pod, name] as const)));
    return [...new Set(readiness.map(({ pod }) => pod))]
        .map((pod) => ({
            pod,
            attack: attackOn.get(pod),
            changes: readiness.filter((change) => change.pod === pod),
        }))
        .filter(({ attack, changes }) => attack !== undefined || changes.length > 1)
        .sort((a, b) => Number(b.attack !== undefined) - Number(a.attack !== undefined) || a.pod.localeCompare(b.pod))
        .slice(0, maxLanes)
        .map(({ pod, attack, changes }) => (y) => [
            attack === undefined ? rowName(y, shortened(pod, 20), "faint") : rowName(y, `✕ ${shortened(pod, 20)}`),
            ...changes.map(({ at, ready }, index) => {
                const until = changes[index + 1]?.at ?? end;
                return line(ready ? "ready" : "unready", x(at), y, x(until), y, ready ? "ready" : "not ready");
            }),
            // With several attacks, the lane names its own.
            ...(attack !== undefined && attacks.length > 1
                ? [label(width - margin.right - 4, y + 4, attack, "faint over", "end")]
                : []),
        ]);
}
