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
    /** The StatusChecks that are done beside it. */
    checks: readonly Fields[];
}

/** A chaos, with its own deadline. */
interface Step extends Omit<Around, "path"> {
    name: string;
    template: Fields;
}

export function ofWorkflow(object: Fields, spec: Fields, name: string | undefined, context: Context): Part[] {
    const walk = new Walk(spec);
    const entry = spec.text("entry");
    if (!spec.has("entry")) spec.refuse("is missing", "entry");
    const order = entry === undefined ? undefined : walk.from(entry);
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
    return object.remarks.refused.length > 0 ? [{ object, nameKey: "metadata.name", found: {} }, ...parts] : parts;
}

const types = kindsAnd("Schedule", "Serial", "Parallel", "Suspend", "Task", "StatusCheck");

/** What is said of the whole workflow is said of each of its experiments, too. @param all its StatusChecks */
function partOf(
    { name: own, template, lasting, checks }: Step,
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
                : "is missing, so that of a template around it counts: ") + formatDuration(lasting.durationMs),
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
    const read = Array.from(all, (one) => checkIn(one.apart(object.remarks), own, checks.includes(one))).flat();
    const places = Object.fromEntries(read.map(({ place }, index) => [`checks.${index}`, place]));
    return {
        object,
        nameKey: "name",
        found: { name, ...found, checks: read.map(({ check }) => check), places: { ...found?.places, ...places } },
    };
}

class Walk {
    readonly steps: Step[] = [];
    /** The StatusChecks that the entry leads to. */
    readonly checks = new Set<Fields>();
    private readonly templates: readonly Fields[];
    private readonly reached = new Set<Fields>();

    constructor(private readonly spec: Fields) {
        this.templates = spec.objects("templates");
    }

    /** Goes through a template and what it leads to. @returns the order in words */
    from(name: string, around: Around = { path: [], checks: [] }): string {
        const template = this.templates.find((one) => one.draft("name") === name);
        if (template === undefined) {
            this.spec.refuse(`have none with the name ${describeValue(name)}`, "templates");
            return name;
        }
        if (around.path.includes(template)) {
            template.refuse("leads back to itself");
            return name;
        }
        this.reached.add(template);
        const durationMs = template.duration("deadline");
        const isWithin = durationMs !== undefined && durationMs <= (around.lasting?.durationMs ?? durationMs);
        const lasting = isWithin ? { durationMs, template } : around.lasting;
        const path = [...around.path, template];
        const to = (names: readonly string[], checks = around.checks) =>
            names.map((one) => this.from(one, { path, lasting, checks }));
        switch (template.draft("templateType")) {
            case "Serial":
                return to(template.texts("children")).join(", then ");
            case "Parallel": {
                const children = template.texts("children");
                const checks = this.templates.filter(
                    (one) => one.draft("templateType") === "StatusCheck" && children.includes(one.draft("name")!),
                );
                return `at once (${to(children, [...around.checks, ...checks]).join("; ")})`;
            }
            case "Suspend":
                return `nothing for ${template.text("deadline") ?? "a while"}`;
            case "Task": {
                template.note("runs a container there, and nothing here", "task");
                const branches = template.objects("conditionalBranches").flatMap((one) => one.text("target") ?? []);
                const then = branches.length > 0 ? `, then by its outcome ${to(branches).join(" or ")}` : "";
                return `the task ${name}${then}`;
            }
            case "StatusCheck":
                this.checks.add(template);
                return `the check ${name}`;
            default:
                this.steps.push({ name, template, lasting, checks: around.checks });
                return name;
        }
    }

    noteUnreached(): void {
        for (const template of this.templates)
            if (!this.reached.has(template)) template.note("is not what the entry leads to, and is left out");
    }
}
