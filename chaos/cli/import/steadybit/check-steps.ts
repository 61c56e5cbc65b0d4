import type { Fields } from "../fields";
import { noCounterpart } from "../fields";
import { type Additions, type Draft, placesOf } from "../imported";
import { relationTo } from "../timeline";
import { beginWith, countOf } from "./pod-count";
import { isAllTheTime, onceTrue, type Step, type StepOf } from "./steps";

/** A step whose check is kept. */
export type CheckStep = StepOf<"check"> | StepOf<"count">;

/** Whether a check lasts for the whole window. If not, it is noted why. */
export function isDuring(step: CheckStep, first: Step): boolean {
    if (step.meaning.is === "count" && !isAllTheTime(step.parameters)) return false;
    const relation = relationTo(first, step);
    const isIgnored = step.fields.text("ignoreFailure") === "true";
    const why = {
        before: "ends before the attack; before one, all checks of the window must hold",
        after: "begins after the attack; after one, the update waits until all checks of the window hold",
        part: "does not surely last as long as the attack, as checks do here",
        during: isIgnored ? "its failure is ignored; a check that fails makes the verdict FAILED" : undefined,
    }[relation];
    if (why !== undefined) step.fields.note(why);
    return why === undefined;
}

/** What the run waits for: the first pod count that must be right once before the attack. Leaves the others out. */
export function beginOf(counts: readonly StepOf<"count">[], first: Step, additions: Additions) {
    let begin: ReturnType<typeof beginWith> | undefined;
    const placesInFile: Record<string, string> = {};
    for (const step of counts.filter(({ parameters }) => !isAllTheTime(parameters))) {
        const isIgnored = step.fields.text("ignoreFailure") === "true";
        const isBefore = begin === undefined && !isIgnored && relationTo(first, step) === "before";
        const count = isBefore ? countOf(step.fields, step.parameters, additions) : undefined;
        if (count) begin = beginWith(count, step.durationMs);
        if (count) Object.assign(placesInFile, placesOf("begin", step.fields, { within: "parameters.duration" }));
        const why = isIgnored ? "its failure is ignored, and a run that waits in vain is ABORTED: left out" : onceTrue;
        step.fields.note(count ? "is what the run waits for before it begins" : why);
    }
    return { begin, places: placesInFile };
}

const longestName = 60;

/** The check of a step. Undefined if it cannot be said, which is noted. @param windowMs how long it lasts here */
export function checkOf(step: CheckStep, windowMs: number, additions: Additions): Draft | undefined {
    const { fields, parameters, durationMs, meaning } = step;
    if (windowMs !== durationMs) parameters.note("a check lasts as long as the window", "duration");
    else parameters.take("duration");
    const label = fields.text("customLabel");
    const isLong = label !== undefined && label.length > longestName;
    if (isLong) fields.note(`is longer than a check's name, ${longestName}`, "customLabel");
    const check = meaning.is === "count" ? count(fields, parameters, additions) : request(step, meaning.read);
    fields.noteRest(noCounterpart);
    return check && { ...check, name: isLong ? undefined : label };
}

function request({ fields, parameters, durationMs }: CheckStep, read: StepOf<"check">["meaning"]["read"]): Draft {
    const check = read(parameters, { durationMs });
    parameters.refuseRest();
    if (fields.has("radius")) fields.note("requests come from where the update runs", "radius");
    return check;
}

function count(fields: Fields, parameters: Fields, additions: Additions): Draft | undefined {
    const check = countOf(fields, parameters, additions);
    if (!check) fields.note("counts what no check here does, such as the pods of several workloads: it is left out");
    return check;
}

/** Where the fields of a check, or of its load, are in the file. @param part such as `checks.0` */
export const placesOfCheck = (part: string, { fields, parameters }: CheckStep, timeoutMs: string) => ({
    ...placesOf(part, parameters, { ...places, timeoutMs }),
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
