import { formatDuration } from "../../../values/duration";
import type { Fields } from "../fields";
import { type Found, placesOf, usualWindowMs, windowOf } from "../imported";
import { noteRepeated } from "./pod-chaos";
import type { Context, Read, Reader } from "./reader";
import { radiusOf, selected } from "./selector";

/** How long a chaos lasts in a Workflow, and the template whose deadline says so, or should. */
export interface Lasting {
    durationMs?: number;
    template: Fields;
    /** Set in a Schedule, of which the deadline is the end. */
    isRepeated?: boolean;
}

/** The experiment of a chaos. @param spec of its kind */
export function experimentOf(spec: Fields, reader: Reader, context: Context, lasting?: Lasting): Found {
    const read = reader(spec, context);
    if (read === undefined) return {};
    const target = selected(spec, context.namespace, read.containers)?.target;
    const attacks = [{ ...read.attack, target, radius: radiusOf(spec) }];
    if (spec.has("remoteCluster")) spec.note("the kubeconfig and its context say in which cluster", "remoteCluster");
    if (spec.has("scheduler")) spec.note(runsOnce, "scheduler");
    const [of, key] = lasting ? [lasting.template.apart(spec.remarks), "deadline"] : [spec, "duration"];
    const durationMs = lasts(spec, read, of, key, lasting);
    spec.refuseRest();
    const places = {
        ...placesOf("attacks.0", spec, placesInAttack),
        "attacks.0.peers": spec.at(spec.has("externalTargets") ? "externalTargets" : "target"),
        "window.duration": of.at(key),
    };
    const { window } = windowOf(durationMs, attacks, of, key);
    if (read.isAtOnce && context.everyMs) noteRepeated(spec, context.everyMs, window.duration);
    return { attacks, places, window } as Found;
}

export const runsOnce = "an experiment runs once, in its update: schedule the updates";

/** In milliseconds. @param key in `of`, of what should say so */
function lasts(spec: Fields, { isAtOnce }: Read, of: Fields, key: string, lasting?: Lasting): number {
    const [has, isOnce] = [spec.has("duration"), lasting && !lasting.isRepeated];
    const ends = lasting?.durationMs ?? Infinity;
    const own = (isAtOnce ? undefined : spec.duration("duration")) ?? Infinity;
    const least = isOnce && ends < Infinity ? ends : Math.min(own, ends);
    const durationMs = least < Infinity ? least : usualWindowMs;
    const here = `here the window is ${formatDuration(durationMs)}`;
    if (isAtOnce && (has || ends === Infinity))
        spec.note(`has no effect there, since pods are deleted at once; ${here}`, "duration");
    else if (isOnce && has)
        spec.note("is refused by Chaos Mesh in a Workflow, which has deadline for that", "duration");
    else if (has && own > ends) spec.note("is longer than the deadline, which ends it, here too", "duration");
    else if (!isAtOnce && !has && ends === Infinity)
        of.note(`is missing, so it lasts until it is deleted; ${here}`, key);
    return durationMs;
}

const placesInAttack = {
    target: "selector",
    radius: "value",
    delay: "delay",
    abort: "replace",
    bytesPerSecond: "bandwidth",
    cutAfter: "abort",
    "match.path": "path",
    "match.method": "method",
    "match.headers": "request_headers",
    cpu: "stressors",
    memory: "stressors",
};
