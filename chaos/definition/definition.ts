import * as z from "zod";
import { type Action, actionKindOf, actionSchema } from "../kinds/actions/registry";
import {
    type Attack,
    attackKindOf,
    attackSchemaWith,
    type AttackWithTarget,
    findsTargets,
    onlyReadyOf,
    wrongOptionsOf,
} from "../kinds/attacks/registry";
import { changedOf } from "../cluster/resources";
import { abortRuleOf, contradictionsIn } from "../kinds/checks/abort";
import { completed } from "../kinds/checks/check-kind";
import { type Check, checkName, checkSchema } from "../kinds/checks/registry";
import { describeShare } from "../values/share";
import { beginSchema, type BeginSettings } from "./begin-settings";
import { ownChangeMistakes } from "./change-mistakes";
import { ownConfidenceMistakes } from "./confidence-mistakes";
import { inWords, isOutput, notAllowed, placeIn } from "../values/texts";
import type { AttributeExpression } from "../targets/attributes";
import { expression } from "../targets/locate";
import { allowedRadius, parseRadius } from "../targets/radius";

/** An experiment: what is done to which targets, and what is expected to hold meanwhile. */
export interface ExperimentDefinition {
    /** The expectation in one sentence. The verdict answers it. */
    hypothesis: string;
    /** They begin at once, in one namespace. Only one hits a pod. @default none: the run only acts and checks */
    attacks?: AttackDefinition[];
    /**
     * What must hold; at least one.
     * @default for the shop, `GET /products` with status 200 and a product in each list
     */
    checks?: Check[];
    /**
     * Done in order, once all attacks are proven; without attacks, once the checks begin. A `load` begins before, and
     * lasts until the run is over.
     */
    actions?: Action[];
    /** What the run waits for, such as a queue of some length or a rollout that is under way. @default nothing */
    begin?: BeginSettings;
}

/** An attack and its targets. A pod is hit by one attack only: later attacks choose among the remaining pods. */
export type AttackDefinition = (
    | (AttackWithTarget & Aimed)
    // A fault's Service says where.
    | (Exclude<Attack, AttackWithTarget> & Partial<Aimed>)
) &
    AttackOptions;

interface Aimed {
    /** The containers to attack. @default required; for a fault, all pods of its Service */
    target: AttributeExpression;
}

interface AttackOptions {
    /** How many of the matching containers are affected: a number, a percentage (rounded down), or all. @default 1 */
    radius?: number | `${number}%` | "all";
    /** Whether pods that are not ready may be chosen, too. Not for `kill` and `fault`. @default false */
    includeNotReady?: boolean;
    /**
     * `cut`: the verdict is INCONCLUSIVE unless connections into the targets from before the attack are shown to be
     * cut. `any`: whether they were is only reported. @default "any"
     */
    established?: "any" | "cut";
    /**
     * `unproven`: if nothing can be tried from within a target, it need not be proven that the target reaches no other
     * pod. @default "proven"
     */
    outward?: "proven" | "unproven";
}

const radius = z
    .custom<NonNullable<AttackDefinition["radius"]>>(
        (value) => !Array.isArray(value) && parseRadius(String(value)) !== undefined,
        { error: notAllowed(allowedRadius, "a radius") },
    )
    .meta({ anyOf: [{ type: "integer" }, { type: "string" }] });
const aimOf = (kind: Attack["kind"]) => ({
    // Types know when it is optional: `AttackDefinition`.
    target: findsTargets(kind) ? (expression.optional() as unknown as typeof expression) : expression,
    radius: radius.optional(),
    includeNotReady: z
        .boolean()
        .refine((included) => !included || onlyReadyOf(kind) === undefined, {
            error: `${onlyReadyOf(kind)}, or leave it out`,
        })
        .optional(),
    established: z.enum(["any", "cut"]).optional(),
    outward: z.enum(["proven", "unproven"]).optional(),
});

const attacks = attackSchemaWith(aimOf).superRefine((attack, context) => {
    for (const { field, wish, why } of wrongOptionsOf(attack))
        context.addIssue({ code: "custom", path: [field], message: `"${wish}" ${why}` });
    for (const { field, message } of [attackKindOf(attack).mistake?.(attack) ?? []].flat())
        context.addIssue({ code: "custom", path: [field], message });
}) satisfies z.ZodType<AttackDefinition>;

/** A list of checks. @param ifEmpty what is wrong with none, and what is allowed */
export const checksWith = (ifEmpty: string) =>
    z
        .array(checkSchema)
        .nonempty({ error: ifEmpty })
        .superRefine(refuseSharedNames, { when: ({ value }) => Array.isArray(value) })
        .superRefine((all, context) => {
            for (const [index, check] of all.entries())
                for (const { field, message } of abortMistakes(check))
                    context.addIssue({ code: "custom", path: [index, field], message });
        })
        .superRefine((all, context) => {
            for (const [index, check] of all.entries())
                if (checkSchema.safeParse(check).success) {
                    for (const message of ownConfidenceMistakes(check))
                        context.addIssue({ code: "custom", path: [index, "confidence"], message });
                    for (const { field, message } of ownChangeMistakes(check))
                        context.addIssue({ code: "custom", path: [index, field], message });
                }
        });

/** Compares only checks that are valid by themselves: others may have no name yet. */
function refuseSharedNames(all: readonly unknown[], context: z.RefinementCtx): void {
    const names = all.map((check) => {
        const { success, data } = checkSchema.safeParse(check);
        return success ? checkName(data) : undefined;
    });
    for (const [index, name] of names.entries()) {
        if (name === undefined || names.indexOf(name) === index) continue;
        const message = `another check is named "${name}"; rename one of them`;
        context.addIssue({ code: "custom", path: [index, "name"], message });
    }
}

/** What a check's abort rule contradicts in the check itself. What settings add, `planOf` compares. */
function abortMistakes(check: Check): { field: keyof Check; message: string }[] {
    // Of a wrong rate, only that is reported.
    const perSecond = check.perSecond || Infinity;
    const { successRate } = completed(check, { intervalMs: 0, successRate: 1 });
    // A definition may set only the time, and leave the limit to a setting.
    const rule = abortRuleOf(check, 0);
    if (rule === undefined) return [];
    return contradictionsIn(rule, { successRate, intervalMs: 1_000 / perSecond, durationMs: Infinity }).map(
        ({ against, reason }) =>
            against === "successRate"
                ? { field: "abortBelow", message: `${reason}; allowed: at most ${describeShare(successRate)}` }
                : { field: "abortOver", message: `${reason}; allowed: more than the interval` },
    );
}

/** An experiment can change an object only once. */
function refuseSharedObjects(all: readonly AttackDefinition[], context: z.RefinementCtx): void {
    const changedName = (attack: Attack) => changedOf(attackKindOf(attack).restores, attack)?.name;
    for (const [index, attack] of all.entries()) {
        const { restores } = attackKindOf<Attack>(attack);
        const name = changedName(attack);
        if (restores === undefined || all.findIndex((one) => changedName(one) === name) === index) continue;
        const message = `"${name}" has a ${attack.kind} already; allowed: one for each ${restores.resource.kind}`;
        context.addIssue({ code: "custom", path: [index, restores.named], message });
    }
}

/** Reports tell them apart by their names. Compares only actions that are valid by themselves. */
function refuseSharedLoads(all: readonly unknown[], context: z.RefinementCtx): void {
    const names = all.map((action) => {
        const { success, data } = actionSchema.safeParse(action);
        return success ? actionKindOf(data).beside?.name(data) : undefined;
    });
    for (const [index, name] of names.entries()) {
        if (name === undefined || names.indexOf(name) === index) continue;
        const message = `another action is named "${name}"; give one of them another \`name\``;
        context.addIssue({ code: "custom", path: [index], message });
    }
}

/** What a definition may say; anything else is a mistake. */
export const definitionSchema = z.strictObject({
    hypothesis: z.string().trim().min(1),
    attacks: z.array(attacks).superRefine(refuseSharedObjects).optional(),
    checks: checksWith("without a check there is no verdict; leave `checks` out for the default check").optional(),
    actions: z
        .array(actionSchema)
        .superRefine(refuseSharedLoads, { when: ({ value }) => Array.isArray(value) })
        .optional(),
    begin: beginSchema.optional(),
}) satisfies z.ZodType<ExperimentDefinition>;

/** The names of its objects add up to 18 characters to it; the name of a Job may have 63. */
export const maxNameLength = 45;

/**
 * All mistakes in a definition, each with its place and what is allowed there. Types do not prevent mistakes, because
 * nothing checks types before an update.
 */
export function mistakesIn(definition: unknown, name = "", schema: z.ZodType = definitionSchema): string[] {
    const mistakes = issuesIn(definition, schema).map(describeIssue);
    if (name.length <= maxNameLength) return mistakes;
    return [`its name: has ${name.length} characters; allowed: at most ${maxNameLength}`, ...mistakes];
}

/** A mistake: the keys and indices that lead to it, and what is allowed there. */
export interface Issue {
    path: readonly PropertyKey[];
    message: string;
}

export const describeIssue = ({ path, message }: Issue) => `${placeIn(path) || "the experiment"}: ${message}`;

/** As `mistakesIn`, with the places as lists. */
export function issuesIn(definition: unknown, schema: z.ZodType): Issue[] {
    const outputs = outputsIn(definition);
    const { error } = schema.safeParse(definition, { error: inWords });
    // An Output has every field that is read, so the schema would find many more mistakes in it.
    const ofOutputs = ({ path }: Issue) =>
        outputs.some((output) => output.every((key, index) => String(key) === String(path[index])));
    const message = "is an Output; allowed: a plain value, so that a preview can say what would be attacked";
    const ofCheck = `${message}; for a secret: headersFrom, queryFrom or bodyFrom with a Secret`;
    return [
        ...outputs.map((path) => ({
            path,
            message: ["checks", "begin"].includes(String(path[0])) ? ofCheck : message,
        })),
        ...(error?.issues ?? []).flatMap(partsOf).filter((issue) => !ofOutputs(issue)),
    ];
}

/** Of a value that may have several types, the mistakes in the type that it is most like, each at its place. */
function partsOf(issue: z.core.$ZodIssue): (Issue & { code: string })[] {
    const [meant = [issue]] = (issue.code === "invalid_union" ? issue.errors : [])
        .map((issues) => issues.flatMap(partsOf))
        .filter((issues) =>
            issues.every(({ code, path }) => path.length > 0 || ["custom", "unrecognized_keys"].includes(code)),
        )
        .sort((a, b) => a.length - b.length)
        .map((issues) => issues.map((one) => ({ ...one, path: [...issue.path, ...one.path] })));
    return meant;
}

/** The places of all Outputs in a value. */
function outputsIn(value: unknown): PropertyKey[][] {
    if (isOutput(value)) return [[]];
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) => outputsIn(inner).map((path) => [key, ...path]));
}

/** Mistakes as the end of a sentence: `2 mistakes:`, and a line for each. */
export function describeMistakes(mistakes: readonly string[]): string {
    const count = mistakes.length === 1 ? "a mistake" : `${mistakes.length} mistakes`;
    return `${count}:\n${mistakes.map((mistake) => `  ${mistake}`).join("\n")}`;
}
