/** When a step begins and how long it takes, in milliseconds since the experiment's beginning. */
export interface Placed {
    lane: number;
    /** Its place in its lane. */
    index: number;
    /** The begin is uncertain, since an earlier step of the lane may end before its time. */
    earliest: number;
    latest: number;
    /** 0 if it is done at once. */
    durationMs: number;
}

/** How long the step takes until the next one of its lane begins. */
export interface Timed {
    leastMs: number;
    mostMs: number;
}

/** Lanes begin together, and the steps of one lane follow each other. */
export const placed = <T extends Timed>(lanes: readonly (readonly T[])[]) =>
    lanes.flatMap((steps, lane) => {
        let [earliest, latest] = [0, 0];
        return steps.map((step, index) => {
            const here = { ...step, lane, index, earliest, latest };
            earliest += step.leastMs;
            latest += step.mostMs;
            return here;
        });
    });

const isCertain = ({ earliest, latest }: Placed) => earliest === latest;

/** Undefined if that is not certain. */
export function offsetOf(step: Placed, from: Placed): number | undefined {
    const offset = step.earliest - from.earliest;
    const isSure = step.lane === from.lane ? step.latest - from.latest === offset : isCertain(step) && isCertain(from);
    return isSure ? offset : undefined;
}

/** When a step is, as seen from an attack. `part`: during a part of it, or that is not certain. */
export function relationTo(attack: Placed, step: Placed): "before" | "during" | "after" | "part" {
    const [offset, isSameLane] = [offsetOf(step, attack), step.lane === attack.lane];
    if (isSameLane && offset === 0 && attack.durationMs === 0 && step.index > attack.index) return "during";
    if (isSameLane) return step.index < attack.index ? "before" : "after";
    const end = attack.latest + attack.durationMs;
    if (step.latest + step.durationMs <= attack.earliest) return "before";
    if (step.earliest > end || (step.earliest === end && attack.durationMs > 0)) return "after";
    return step.latest <= attack.earliest && step.earliest + step.durationMs >= end ? "during" : "part";
}
