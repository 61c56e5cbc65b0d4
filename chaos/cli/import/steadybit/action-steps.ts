import { type Fields, noCounterpart } from "../fields";
import type { Additions, Draft } from "../imported";
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
        if (offsetMs === undefined || offsetMs < 0)
            fields.refuse("has no certain time after the attack or the action before it: actions are done in order");
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
        places[`actions.${actions.length}`] = fields.at();
        actions.push(meaning.read(parameters, names?.[0]));
        if (meaning.read === rolloutOf) rolledOut.push(names?.[0]);
        parameters.refuseRest();
        radius.refuseRest();
        finish(fields, "a failure of an action makes the verdict INCONCLUSIVE");
        before = step;
    }
    return { actions, rolledOut, namespace, places };
}

/** Reports what is left of an attack or an action. */
export function finish(fields: Fields, ofFailure: string): void {
    if (fields.text("ignoreFailure") === "true") fields.note(ofFailure, "ignoreFailure");
    if (fields.has("customLabel")) fields.note("is only a label", "customLabel");
    fields.noteRest(noCounterpart);
}
