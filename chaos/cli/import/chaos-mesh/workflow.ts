/**
 * Workflow: https://github.com/chaos-mesh/chaos-mesh/blob/master/api/v1alpha1/workflow_types.go. Each chaos that its
 * entry leads to is an experiment here.
 */
import { maxNameLength } from "../../../definition/definition";
import { formatDuration } from "../../../values/duration";
import { describeValue } from "../../../values/texts";
import { shortened } from "../../../values/quoted";
import { type Fields, remarksWith } from "../fields";
import type { Part } from "../imported";
import { experimentOf, type Lasting } from "./chaos";
import { embedded, kindsAnd } from "./kinds";
import type { Context } from "./reader";
import { ofSchedule } from "./schedule";
import { checkIn } from "./status-check";

/** What the templates around one say of it. */
interface Around {
    path: readonly Fields[];
    /** The least of their deadlines. */
    lasting?: Lasting & { durationMs: number };
    /** The least time after which it begins. */
    atMs: number;
    /** The StatusChecks that are done beside it, with the least time after which they begin. */
    checks: ReadonlyMap<Fields, number>;
}

/** A chaos, with its own deadline. */
interface Step extends Omit<Around, "path"> {
    name: string;
    template: Fields;
}

interface Walked {
    /** In words. */
    order?: string;
    leastMs: number;
}

export function ofWorkflow(object: Fields, spec: Fields, name: string | undefined, context: Context): Part[] {
    const walk = new Walk(spec);
    const entry = spec.text("entry");
    if (!spec.has("entry")) spec.refuse("is missing", "entry");
    const order = entry === undefined ? undefined : (walk.from(entry).order ?? "nothing");
    walk.noteUnreached();
    spec.refuseRest();
    const { steps } = walk;
    if (order !== undefined && steps.length === 0) spec.refuse("leads to no chaos", "entry");
    if (order !== undefined && order !== steps[0]?.name)
        spec.note(
            `are done there as: ${shortened(order, 300)}. Here each attack is an experiment, and one follows another`,
            "templates",
        );
    const parts = steps.map((step) => {
        const long = `${name}-${step.name}`;
        const short = steps.length === 1 ? name : long.length > maxNameLength ? step.name : long;
        return partOf(step, name && short, context, object, walk.checks);
    });
    // Mistakes around the attacks are of each: when they are done, or how long, is not known.
    for (const part of parts) part.object.remarks.refused.push(...object.remarks.refused);
    return parts.length > 0 ? parts : [{ object, nameKey: "metadata.name", found: {} }];
}

const groupTypes = ["Serial", "Parallel", "Suspend", "Task", "StatusCheck"];
const keysOfGroups =
    "name templateType deadline children task conditionalBranches statusCheck abortWithStatusCheck".split(" ");
const types = kindsAnd("Schedule", ...groupTypes);

/** What is said of the whole workflow is said of each of its experiments, too. @param all its StatusChecks */
function partOf(
    { name: own, template, lasting, atMs, checks }: Step,
    name: string | undefined,
    context: Context,
    whole: Fields,
    all: Iterable<Fields>,
): Part {
    const { set, differences, unset } = whole.remarks;
    const object = template.apart(remarksWith(set));
    object.remarks.differences.push(...differences);
    for (const one of unset) object.remarks.unset.add(one);
    for (const key of ["name", "templateType", "deadline"]) object.take(key);
    if (lasting && lasting.template !== template)
        object.note(
            (object.has("deadline")
                ? "is longer than that of a template around it, which ends it at the latest after "
                : "is missing, so that of a template around it counts: ") +
                formatDuration(lasting.durationMs) +
                (lasting.template.apart().duration("deadline") === lasting.durationMs
                    ? ""
                    : ", less what comes before it"),
            "deadline",
        );
    const kind = object.text("templateType");
    const reader = object.word("templateType", types);
    const ending = lasting ?? { template };
    const found =
        kind === "Schedule"
            ? ofSchedule(object.object("schedule"), context, ending)
            : reader && experimentOf(embedded(object, kind!), reader, context, ending);
    if (found) object.refuseRest();
    const read = Array.from(all, (one) => checkIn(one.apart(object.remarks), own, atMs - checks.get(one)!)).flat();
    const places = Object.fromEntries(read.map(({ place }, index) => [`checks.${index}`, place]));
    return {
        object,
        nameKey: "name",
        found: { name, ...found, checks: read.map(({ check }) => check), places: { ...found?.places, ...places } },
    };
}

const wordsOf = (all: readonly Walked[], between: string) => all.flatMap(({ order }) => order ?? []).join(between);

class Walk {
    readonly steps: Step[] = [];
    /** The StatusChecks that the entry leads to. */
    readonly checks = new Set<Fields>();
    private readonly templates: readonly Fields[];
    private readonly reached = new Set<Fields>();

    constructor(private readonly spec: Fields) {
        this.templates = spec.objects("templates");
    }

    /** Goes through a template and what it leads to. */
    from(name: string, around: Around = { path: [], atMs: 0, checks: new Map() }): Walked {
        const template = this.templates.find((one) => one.draft("name") === name);
        if (template === undefined) {
            this.spec.refuse(`have none with the name ${describeValue(name)}`, "templates");
            return { order: name, leastMs: 0 };
        }
        if (around.path.includes(template)) {
            template.refuse("leads back to itself");
            return { order: name, leastMs: 0 };
        }
        this.reached.add(template);
        if (around.lasting?.durationMs === 0) {
            template.note("does not begin there, since what comes before it takes all the time: it is left out");
            return { leastMs: 0 };
        }
        const durationMs = template.duration("deadline");
        const isWithin = durationMs !== undefined && durationMs <= (around.lasting?.durationMs ?? durationMs);
        const lasting = isWithin ? { durationMs, template } : around.lasting;
        const inner = { ...around, path: [...around.path, template], lasting };
        const least = (order: string, leastMs = lasting?.durationMs ?? 0): Walked => ({ order, leastMs });
        const type = template.draft("templateType");
        if (groupTypes.includes(type!)) {
            for (const key of keysOfGroups) template.take(key);
            template.refuseRest();
        }
        switch (type) {
            case "Serial": {
                let spentMs = 0;
                const all = template.texts("children").map((one) => {
                    const left = lasting && { ...lasting, durationMs: lasting.durationMs - spentMs };
                    const walked = this.from(one, { ...inner, lasting: left, atMs: around.atMs + spentMs });
                    spentMs += walked.leastMs;
                    return walked;
                });
                return least(wordsOf(all, ", then "), spentMs);
            }
            case "Parallel": {
                const children = template.texts("children");
                const checks = this.templates.filter(
                    (one) => one.draft("templateType") === "StatusCheck" && children.includes(one.draft("name")!),
                );
                const beside = new Map([...around.checks, ...checks.map((one) => [one, around.atMs] as const)]);
                const all = children.map((one) => this.from(one, { ...inner, checks: beside }));
                return least(`at once (${wordsOf(all, "; ")})`, Math.max(0, ...all.map(({ leastMs }) => leastMs)));
            }
            case "Suspend":
                return least(`nothing for ${template.text("deadline") ?? "a while"}`);
            case "Task": {
                template.note("runs a container there, and nothing here", "task");
                const branches = template.objects("conditionalBranches").flatMap((one) => one.text("target") ?? []);
                const all = branches.map((one) => this.from(one, inner));
                const then = all.length > 0 ? `, then by its outcome ${wordsOf(all, " or ")}` : "";
                return least(`the task ${name}${then}`, 0);
            }
            case "StatusCheck":
                this.checks.add(template);
                return least(`the check ${name}`, 0);
            default:
                this.steps.push({ ...inner, name, template });
                return least(name);
        }
    }

    noteUnreached(): void {
        for (const template of this.templates)
            if (!this.reached.has(template)) template.note("is not what the entry leads to, and is left out");
    }
}
