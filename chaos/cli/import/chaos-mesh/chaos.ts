import { times } from "../../../values/duration";
import type { Fields } from "../fields";
import { type Found, placesOf, usualWindowMs, windowOf } from "../imported";
import { noteRepeated } from "./pod-chaos";
import type { Context, Read, Reader } from "./reader";
import { radiusOf, selected } from "./selector";

/** How long a chaos lasts in a Workflow, and the template whose deadline says so. */
export interface Lasting {
    durationMs: number;
    template: Fields;
}

/** The experiment of a chaos. @param spec of its kind */
export function experimentOf(spec: Fields, reader: Reader, context: Context, lasting?: Lasting): Found {
    const read = reader(spec, context);
    if (read === undefined) return {};
    const target = selected(spec, context.namespace, read.containers)?.target;
    const attacks = [{ ...read.attack, target, radius: radiusOf(spec) }];
    if (spec.has("remoteCluster")) spec.note("the kubeconfig and its context say in which cluster", "remoteCluster");
    if (spec.has("scheduler")) spec.note(runsOnce, "scheduler");
    const durationMs = lasts(spec, read, lasting);
    spec.refuseRest();
    const [of, key] = lasting ? [lasting.template.apart(spec.remarks), "deadline"] : [spec, "duration"];
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

/** In milliseconds. */
function lasts(spec: Fields, { isAtOnce }: Read, lasting: Lasting | undefined): number {
    if (lasting && spec.has("duration"))
        spec.note("is not what counts in a Workflow: that is the deadline", "duration");
    if (lasting) return lasting.durationMs;
    const usual = `${times.duration.usual}, the default`;
    const durationMs = isAtOnce ? undefined : spec.duration("duration");
    if (isAtOnce)
        spec.note(`has no effect there, since pods are deleted at once; here the window is ${usual}`, "duration");
    else if (!spec.has("duration")) spec.note(`is missing, so it lasts until it is deleted; here ${usual}`, "duration");
    return durationMs ?? usualWindowMs;
}

const placesInAttack = {
    target: "selector",
    radius: "value",
    service: "--service",
    delay: "delay",
    abort: "abort",
    bytesPerSecond: "bandwidth",
    cutAfter: "abort",
    "match.path": "path",
    "match.method": "method",
    "match.headers": "request_headers",
    cpu: "stressors",
    memory: "stressors",
};
