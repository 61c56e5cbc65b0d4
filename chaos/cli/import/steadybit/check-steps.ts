import { type Fields, noCounterpart } from "../fields";
import { type Additions, type Draft, onlyUnderAttack, placesOf } from "../imported";
import { relationTo } from "../timeline";
import { compared, isOfFailure, rateKeyIn } from "./http-check";
import { beginWith, countOf, modeKey, noneReady } from "./pod-count";
import { isAllTheTime, isOf, type Step, type StepOf } from "./steps";

/** A step whose check may be kept. */
export type CheckStep = StepOf<"check"> | StepOf<"count">;

const isIgnored = ({ fields }: Step) => fields.text("ignoreFailure") === "true";
const isOnce = ({ meaning, parameters }: Step) => meaning.is === "count" && !isAllTheTime(parameters);

/** What the run waits for: the first pod count that must be right once before the attack. */
export function beginOf(counts: readonly StepOf<"count">[], first: Step, additions: Additions) {
    for (const step of counts) {
        if (!isOnce(step) || isIgnored(step) || relationTo(first, step) !== "before") continue;
        const count = countOf(step.fields, step.parameters, additions);
        if (!count) continue;
        step.fields.note("is what the run waits for before it begins");
        step.fields.take("customLabel");
        step.fields.noteRest(noCounterpart);
        const places = placesOf("begin", step.fields, { within: "parameters.duration" });
        return { step, begin: beginWith(count, step.durationMs), places };
    }
    return undefined;
}

/** What else is in the file, as seen from a check. */
export interface Around {
    steps: readonly Step[];
    /** The attack that is checked, or the first action. */
    first: Step;
    /** The first attacks of the file's other experiments. */
    others: readonly Step[];
}

/** Whether a check wants what is wrong without the attack, for itself or for a check of the same request then. */
const isContrary = (step: Step, { steps, first }: Around) =>
    isOfFailure(step.parameters) ||
    steps
        .filter(isOf("check"))
        .filter((other) => !isIgnored(other) && ["before", "after"].includes(relationTo(first, other)))
        .some((other) => compared(step.parameters, other.parameters) === "never");

/** Whether a step asks something, perhaps what no check here does. */
export const isAsking = (step: Step): step is CheckStep | StepOf<"foreign"> =>
    ["check", "count", "foreign"].includes(step.meaning.is);

/** Whether a check is kept: it lasts for the whole window, and may hold before it, too. */
export const isKept = (step: Step, around: Around): step is CheckStep =>
    isAsking(step) &&
    step.meaning.is !== "foreign" &&
    !isIgnored(step) &&
    !isOnce(step) &&
    relationTo(around.first, step) === "during" &&
    !isContrary(step, around);

/**
 * Says of a check that it is left out. If it is of what the attack does, the hypothesis may be, too: a person then
 * writes one of what the others show.
 *
 * @param kept the steps of these others
 */
export function noteLeftOut(step: Step, kept: readonly Step[], around: Around, { hypothesis }: Additions): void {
    const { fields, parameters, meaning } = step;
    const relation = relationTo(around.first, step);
    const isElsewhere = around.others.some((first) => isKept(step, { ...around, first }));
    const isAsked = kept.filter(isOf("check")).some((one) => compared(one.parameters, parameters) === "good");
    if (isIgnored(step))
        fields.note("its failure is ignored; here it would make the verdict FAILED, or the run ABORTED: left out");
    else if (isElsewhere) fields.note("is a check of another experiment of this file; all have its hypothesis");
    else if (relation === "before")
        fields.note("ends before the attack, and is left out; before one, the checks of the window must hold");
    else if (relation === "after" && isAsked)
        fields.note("begins after the attack; after one, the update waits until all checks of the window hold");
    else if (hypothesis !== undefined)
        fields.note(`${whyNot(step, around)}. It is left out: the hypothesis is the command's`);
    else
        fields.refuse(
            `${whyNot(step, around)}. With --hypothesis TEXT, which says what the other checks show, it is left out` +
                (meaning.is === "foreign" ? "; nearest: a check of kind prometheus or command, written by hand" : ""),
        );
}

function whyNot(step: Step, around: Around): string {
    const relation = relationTo(around.first, step);
    if (step.meaning.is === "foreign") return `is a check that ${noCounterpart}`;
    if (isOnce(step)) return "waits until it is true once; a check here holds all the time";
    if (relation === "after") return "begins after the attack, and wants what no check of its time does";
    if (relation === "part") return "does not surely last as long as the attack, as checks do here";
    return isContrary(step, around)
        ? onlyUnderAttack
        : "counts what no check here does: pods of several workloads, a change, less than the desired number, or " +
              "that number while the Deployment is rolled out";
}

const longestName = 60;

const alsoBefore = "must be so before the attack, too, or the run is ABORTED";

/**
 * The check of a step. Undefined if it cannot be said.
 *
 * @param windowMs how long it lasts here
 * @param rolledOut names of Deployments that are rolled out meanwhile
 */
export function checkOf(
    step: CheckStep,
    windowMs: number,
    additions: Additions,
    rolledOut: readonly unknown[],
): Draft | undefined {
    const { fields, parameters, durationMs, meaning } = step;
    const check =
        meaning.is === "count" ? count(fields, parameters, additions, rolledOut) : request(step, meaning.read);
    if (!check) return undefined;
    if (windowMs !== durationMs) parameters.note("a check lasts as long as the window", "duration");
    const label = fields.text("customLabel");
    const isLong = label !== undefined && label.length > longestName;
    if (isLong) fields.note(`is longer than a check's name, ${longestName}`, "customLabel");
    fields.noteRest(noCounterpart);
    return { ...check, name: isLong ? undefined : label };
}

function request({ fields, parameters, durationMs }: CheckStep, read: StepOf<"check">["meaning"]["read"]): Draft {
    const check = read(parameters, { durationMs });
    parameters.refuseRest();
    if (Number([check.status].flat()[0]) >= 400) parameters.note(alsoBefore, "statusCode");
    if (fields.has("radius")) fields.note("requests come from where the update runs", "radius");
    return check;
}

function count(fields: Fields, parameters: Fields, additions: Additions, rolledOut: readonly unknown[]) {
    const check = countOf(fields, parameters, additions, rolledOut);
    if (check && parameters.draft(modeKey) === noneReady) parameters.note(alsoBefore, modeKey);
    return check;
}

/** Where the fields of a check, or of its load, are in the file. @param part such as `checks.0` */
export const placesOfCheck = (part: string, { fields, parameters }: CheckStep, timeoutMs: string) => ({
    ...placesOf(part, parameters, { ...places, timeoutMs, perSecond: rateKeyIn(parameters) }),
    [`${part}.name`]: fields.at("customLabel"),
});

const places = {
    ...Object.fromEntries(["url", "path", "service", "namespace", "port"].map((part) => [part, "url"])),
    method: "method",
    headers: "headers",
    body: "body",
    status: "statusCode",
    maxLatencyMs: "responseTime",
};
