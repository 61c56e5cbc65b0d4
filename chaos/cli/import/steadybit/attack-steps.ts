import type { Fields } from "../fields";
import { type Additions, type Draft, placesOf } from "../imported";
import { radiusWith, targetOf } from "../target";
import { offsetOf, type Placed } from "../timeline";
import { finish } from "./action-steps";
import { conditionsIn } from "./query";
import type { Step, StepOf } from "./steps";

/**
 * Attacks that begin and end together, in the order of time. If those of one are not over when those of another begin,
 * or that is not certain, or something else is done meanwhile, all are one.
 */
export function groupsOf<S extends Placed>(attacks: readonly S[], hasActions: boolean): S[][] {
    const sorted = [...attacks].sort((a, b) => a.earliest - b.earliest);
    const groups: S[][] = [];
    for (const attack of sorted) {
        const group = groups.find(([one]) => offsetOf(attack, one!) === 0 && one!.durationMs === attack.durationMs);
        if (group) group.push(attack);
        else groups.push([attack]);
    }
    const follow = groups.slice(1).every(([next], index) => {
        const [before] = groups[index]!;
        return (offsetOf(next!, before!) ?? 0) > Math.max(0, before!.durationMs - 1);
    });
    return follow && !hasActions ? groups : [[...attacks]];
}

export function attackOf(step: StepOf<"attack">, first: Placed, additions: Additions) {
    const { fields, parameters, durationMs, meaning } = step;
    if (offsetOf(step, first) !== 0 || durationMs !== first.durationMs)
        fields.refuse("does not begin and end with the other attacks: import one each");
    const lastsMs = parameters.apart().duration("duration");
    const { containers = [], ...bare } = meaning.read(parameters, additions);
    if (!meaning.isAtOnce && (lastsMs === 0 || !parameters.has("duration")))
        parameters.refuse("is missing or 0: write how long the attack lasts", "duration");
    parameters.take("duration");
    parameters.refuseRest();
    const radius = fields.object("radius");
    radius.take("targetType");
    const named = containers.length > 0 ? [{ key: "k8s.container.name", values: containers }] : [];
    const found = targetOf(radius, [...named, ...conditionsIn(radius)], additions.namespace);
    const amount = amountIn(radius, meaning.of);
    radius.refuseRest();
    if (meaning.differs) fields.note(meaning.differs);
    finish(fields);
    const definition: Draft = { ...bare, target: found?.target, radius: amount };
    return found && { definition, namespace: found.namespace };
}

/** Where the fields of an attack are in the file. */
export function placesOfAttack(part: string, { fields, parameters }: Step) {
    const radius = fields.object("radius");
    const amount = ["advanced", "maximum"].find((key) => radius.has(key)) ?? "percentage";
    return placesOf(part, fields, {
        target: "radius",
        radius: `radius.${amount}`,
        delay: "parameters.networkDelay",
        bytesPerSecond: "parameters.bandwidth",
        peers: `parameters.${parameters.has("hostname") ? "hostname" : "ip"}`,
    });
}

function amountIn(radius: Fields, of: "containers" | "pods"): number | string | undefined {
    const rounded = "to the nearest";
    if (radius.has("advanced")) {
        const [limit, ...others] = radius.objects("advanced");
        if (limit === undefined) return undefined;
        const [, number, unit] = /^(\d+)([#%])$/.exec(limit.text("value") ?? "") ?? [];
        if (others.length > 0 || limit.text("attribute") !== "k8s.pod.name" || number === undefined)
            radius.refuse('has another limit than one of k8s.pod.name, such as "1#" or "50%"', "advanced");
        const amount = unit === "%" ? { percent: Number(number) } : { count: Number(number) };
        return radiusWith(radius, "advanced", { ...amount, of: "pods", rounded });
    }
    const share = radius.number("percentage", { least: 0, most: 100 });
    const count = radius.number("maximum", { least: 1, most: 999_999 });
    if (!radius.has("percentage") && !radius.has("maximum")) radius.refuse("has neither percentage nor maximum");
    if (radius.has("percentage") && radius.has("maximum")) radius.refuse("is beside percentage: omit one", "maximum");
    const key = count === undefined ? "percentage" : "maximum";
    return radiusWith(radius, key, { count, percent: share, of, rounded });
}
