import { type Fields, noCounterpart } from "../fields";
import { type Additions, type Draft, placesOf } from "../imported";
import { targetOf } from "../target";
import { offsetOf } from "../timeline";
import { rolloutOf } from "./actions";
import { conditionsIn } from "./query";
import type { Step, StepOf } from "./steps";

export function actionsOf(steps: readonly StepOf<"action">[], first: Step, additions: Additions) {
    const actions: Draft[] = [];
    const rolledOut: (string | undefined)[] = [];
    const places: Record<string, string> = {};
    let namespace: string | undefined;
    let before = first;
    for (const step of steps) {
        const { fields, parameters, meaning } = step;
        const offsetMs = step.lane === steps[0]!.lane ? offsetOf(step, before) : undefined;
        if (offsetMs === undefined || offsetMs < 0 || offsetMs > 3_600_000)
            fields.refuse("has no certain time, at most 1h, after the attack or the action before it");
        else if (offsetMs > 0) actions.push({ kind: "wait", durationMs: offsetMs });
        const radius = fields.object("radius");
        for (const key of ["targetType", "percentage", "maximum"]) radius.take(key);
        const conditions = conditionsIn(radius);
        const found = targetOf(radius, conditions, additions.namespace);
        const [deployment, ...others] = conditions.filter(({ key }) => key !== "k8s.namespace");
        const names = deployment?.negated || deployment?.values === "any" ? [] : deployment?.values;
        if (deployment?.key !== "k8s.deployment" || names?.length !== 1 || others.length > 0)
            radius.refuse("does not name exactly one Deployment by k8s.deployment");
        if (namespace !== undefined && found?.namespace !== namespace)
            radius.refuse("names another namespace than the action before it");
        namespace = found?.namespace;
        const keys = { deployment: "radius", replicas: "parameters.replicaCount" };
        Object.assign(places, placesOf(`actions.${actions.length}`, fields, keys));
        actions.push(meaning.read(parameters, names?.[0]));
        if (meaning.read === rolloutOf) rolledOut.push(names?.[0]);
        parameters.refuseRest();
        radius.refuseRest();
        finish(fields);
        before = step;
    }
    return { actions, rolledOut, namespace, places };
}

/** Reports what is left of an attack or an action. */
export function finish(fields: Fields): void {
    if (fields.text("ignoreFailure") === "true")
        fields.note("here a failure makes the verdict INCONCLUSIVE", "ignoreFailure");
    if (fields.has("customLabel")) fields.note("is only a label", "customLabel");
    fields.noteRest(noCounterpart);
}
