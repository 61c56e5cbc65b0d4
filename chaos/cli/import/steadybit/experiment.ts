/**
 * Steadybit: an experiment as its API and its editor write it, in lanes of steps, or a template of one. For the steps,
 * see https://github.com/steadybit/extension-container, extension-http and extension-kubernetes
 */
import { formatDuration, times } from "../../../values/duration";
import { type Fields, noCounterpart } from "../fields";
import { type Additions, type Draft, type Found, killOnce, type Part, usualWindowMs, windowOf } from "../imported";
import { offsetOf } from "../timeline";
import { actionsOf } from "./action-steps";
import { scaleOf } from "./actions";
import { attackOf, groupsOf, placesOfAttack } from "./attack-steps";
import { beginOf, checkOf, isAsking, isKept, noteLeftOut, placesOfCheck } from "./check-steps";
import { withLoad } from "./http-check";
import { isOf, type Step, stepsIn } from "./steps";

export function ofSteadybit(object: Fields, additions: Additions): Part[] {
    const steps = stepsIn(object.apart());
    const { length } = groupsOf(steps.filter(isOf("attack")), steps.some(isOf("action")));
    const nameKey = object.has("name") ? "name" : "experimentName";
    if (length === 1) return [{ object, nameKey, found: experimentAt(0, object, nameKey, additions) }];
    return Array.from({ length: Math.max(1, length) }, (_, index) => {
        const part = object.apart();
        const found = experimentAt(index, part, nameKey, additions);
        return { object: part, nameKey, found: { ...found, name: found.name && `${found.name} ${index + 1}` } };
    });
}

/** The experiment of one of the groups of attacks. */
function experimentAt(index: number, object: Fields, nameKey: string, additions: Additions): Found {
    const name = object.text(nameKey);
    const hypothesis = additions.hypothesis ?? object.text("hypothesis");
    object.take("hypothesis");
    const steps = stepsIn(object);
    noteWhole(object);
    const [allAttacks, actionSteps] = [steps.filter(isOf("attack")), steps.filter(isOf("action"))];
    const groups = groupsOf(allAttacks, actionSteps.length > 0);
    const attackSteps = groups[index] ?? [];
    for (const { fields } of allAttacks.filter((step) => !attackSteps.includes(step)))
        fields.note("is an experiment by itself here");
    for (const { fields, meaning } of steps) if (meaning.is === "nothing" && meaning.why) fields.note(meaning.why);
    const first = attackSteps[0] ?? actionSteps[0];
    if (first === undefined) {
        object.refuse("has no attack and no action that has a counterpart", "lanes");
        return { name, hypothesis };
    }
    const attacks = attackSteps.map((step) => attackOf(step, first, additions));
    const { actions, rolledOut, namespace, places } = actionsOf(actionSteps, first, additions);
    if (attacks.length > 0 && namespace !== undefined && attacks.some((attack) => attack?.namespace !== namespace))
        actionSteps[0]!.fields.refuse("is done in the attacks' namespace, and the file names another", "radius");
    const others = groups.flatMap(([one]) => (one && one !== first ? [one] : []));
    const around = { steps, first, others };
    const during = steps.filter((step) => isKept(step, around));
    const scales = actionSteps.filter(({ meaning }) => meaning.read === scaleOf);
    const definitions = attacks.map((attack) => attack?.definition ?? killOnce);
    const window = windowAround(first, [...during, ...scales], definitions);
    const length = formatDuration(window.durationMs);
    for (const scale of scales)
        if (endMs(scale, first) !== window.durationMs)
            scale.parameters.note(
                `is scaled back there after this time; here when the run is undone, after a window of ${length}`,
                "duration",
            );
    const checks = during.flatMap((step) => {
        const check = checkOf(step, window.durationMs, additions, rolledOut);
        return check ? [{ step, ...withLoad(check, step.parameters) }] : [];
    });
    const begin = beginOf(steps.filter(isOf("count")), first, additions);
    const kept: Step[] = checks.map(({ step }) => step);
    for (const step of steps.filter(isAsking))
        if (step !== begin?.step && !kept.includes(step)) noteLeftOut(step, kept, around, additions);
    const loads = checks.filter(({ load }) => load !== undefined);
    return {
        name,
        hypothesis,
        namespace: attacks.length > 0 ? undefined : namespace,
        begin: begin?.begin,
        attacks: attacks.flatMap((attack) => attack?.definition ?? []),
        actions: [...actions, ...loads.map(({ load }) => load!)],
        checks: checks.map(({ check }) => check),
        places: Object.assign(
            places,
            begin?.places,
            { "window.duration": first.parameters.at("duration") },
            ...attackSteps.map((step, at) => placesOfAttack(`attacks.${at}`, step)),
            ...loads.map(({ step, check, load }, at) => {
                const limit = load!.timeoutMs === check.maxLatencyMs ? "responseTime" : "readTimeout";
                return placesOfCheck(`actions.${actions.length + at}`, step, limit);
            }),
            ...checks.map(({ step }, at) => placesOfCheck(`checks.${at}`, step, "readTimeout")),
        ) as Found["places"],
        ...window.args,
    } as unknown as Found;
}

/** What is said of the whole experiment, or of its template. */
function noteWhole(object: Fields): void {
    for (const key of ["templateTitle", "templateDescription", "placeholders"]) object.take(key);
    if (object.has("environment")) object.note("the kubeconfig and the targets say where attacks are", "environment");
    object.noteRest(noCounterpart);
}

/** When a step ends, from the begin of the first attack or action. NaN if that is not certain. */
const endMs = (step: Step, first: Step) => (offsetOf(step, first) ?? NaN) + step.durationMs;

/**
 * The window in which the attack, or the first action, is checked.
 *
 * @param lasting without an attack that lasts, the window lasts until the end of these
 */
function windowAround(first: Step, lasting: readonly Step[], attacks: readonly Draft[]) {
    const lengthMs = Math.max(0, ...lasting.map((step) => endMs(step, first)));
    // A Deployment stays scaled until the run is undone, so a scale's own time is none of the window's.
    const knownMs = (isOf("attack")(first) && first.durationMs) || lengthMs;
    const durationMs = knownMs || usualWindowMs;
    const why = lasting.length === 0 ? "no step lasts as long as the window" : "when its last step ends is not certain";
    if (!knownMs)
        first.fields.note(`is done at once, and ${why}: the window has its default length, ${times.duration.usual}`);
    return { durationMs, args: windowOf(durationMs, attacks, first.parameters, "duration") };
}
