/** Values as a person writes them in a definition, and what is said of wrong ones. */
import { allowedMethods } from "./http-method";
import { quote } from "shlex";
import * as z from "zod";
import { dnsLabel } from "./kubernetes-rules";
import { credentialIn } from "./credentials";
import { allowedDuration, durationWithin, type Range } from "./duration";
import { allowedPercentage, parsePercentage } from "./share";

export const isOutput = (value: unknown): boolean =>
    value instanceof Promise || (typeof value === "object" && value !== null && "__pulumiOutput" in value);

const maxShownLength = 100;

/** A value for people, unless it may be a secret. An Output has no text, since definitions are plain values. */
export function describeValue(value: unknown): string {
    if (Array.isArray(value)) return "a list";
    if (isOutput(value)) return "an Output";
    if (typeof value === "object" && value !== null) return "an object";
    if (typeof value !== "string") return String(value);
    const credential = credentialIn(value);
    if (credential !== undefined) return `a text with ${credential}`;
    return value.length > maxShownLength ? `a text of ${value.length} characters` : JSON.stringify(value);
}

/** No message repeats a value of these fields of requests and programs, because a wrong value may be a secret. */
const neverRepeated = new Set<PropertyKey>(["headers", "body", "query", "path", "url", "ca", "env", "command"]);

/** The place of a mistake: the keys that lead to it. A whole header may have been written as a name. */
export const placeIn = (path: readonly PropertyKey[]): string =>
    path.map((key) => (credentialIn(String(key)) === undefined ? String(key) : "…")).join(".");

export interface WrongValue {
    input?: unknown;
    /** The keys and indices that lead to it, if they are known. */
    path?: readonly PropertyKey[];
}

const mayBeRepeated = ({ path = [] }: WrongValue) => !path.some((key) => neverRepeated.has(key));

/** The error of a schema: the wrong value, and what is allowed. */
export const notAllowed =
    (allowed: string, what = "allowed") =>
    (wrong: WrongValue) => {
        const shown = mayBeRepeated(wrong) ? `${describeValue(wrong.input)} ` : "";
        return `${wrong.input === undefined ? "is missing" : `${shown}is not ${what}`}; allowed: ${allowed}`;
    };

/** The error of an object's schema. A key that it must not have is named by its own. */
export const notAnObject =
    (example: string) =>
    (issue: z.core.$ZodRawIssue): string | undefined =>
        issue.code === "invalid_type" ? notAllowed(`an object, such as ${example}`)(issue) : undefined;

export const notAMethod = notAllowed(allowedMethods, "a method");

const typesInWords: Record<string, string> = {
    string: "text",
    object: "an object",
    record: "an object",
    array: "a list",
    boolean: "true or false",
    number: "a number",
    int: "a whole number",
};

/** What is allowed for a type. Names of times say their unit, which a reader may take for a part of the name. */
const typeInWords = ({ expected, path }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>) =>
    (typesInWords[expected] ?? expected) + (/Ms$/.test(String(path?.at(-1))) ? " of milliseconds" : "");

/** What an issue of a schema says. Undefined if the schema's own text says it. */
export function inWords(issue: z.core.$ZodRawIssue): string | undefined {
    switch (issue.code) {
        case "unrecognized_keys":
            return `there is no field ${issue.keys.map((key) => JSON.stringify(placeIn([key]))).join(" or ")} here`;
        case "invalid_type":
            return wrong(issue, typeInWords(issue));
        case "invalid_value":
            return wrong(issue, oneOf(issue.values));
        case "invalid_union":
            return issue.discriminator === undefined
                ? undefined
                : wrong({ input: (issue.input as Record<string, unknown>)[issue.discriminator] }, oneOf(issue.options));
        case "too_small":
            return outside(issue.input, `${issue.inclusive ? "at least" : "above"} ${issue.minimum}`);
        case "too_big":
            return outside(issue.input, `${issue.inclusive ? "at most" : "below"} ${issue.maximum}`);
        default:
            return undefined;
    }
}

function wrong(value: WrongValue, allowed: string): string {
    if (value.input === undefined) return `is missing; allowed: ${allowed}`;
    const isScalar = !["object", "undefined"].includes(typeof value.input);
    const type = isScalar && !mayBeRepeated(value) ? `a ${typeof value.input}`.replace("string", "text") : undefined;
    return `is ${type ?? describeValue(value.input)}; allowed: ${allowed}`;
}

/** Such as `"a", "b" or "c"`. */
function oneOf(values: unknown): string {
    const inQuotes = [values].flat().map((value) => JSON.stringify(value));
    return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(inQuotes);
}

function outside(input: unknown, bound: string): string {
    if (typeof input === "string")
        return input.trim() === "" ? "is empty; allowed: text" : `has ${input.length} characters; allowed: ${bound}`;
    if (Array.isArray(input)) return `has ${input.length} items; allowed: ${bound}`;
    return `is ${String(input)}; allowed: ${bound}`;
}

/** @param examples completes "such as …", in the error */
export function durationBetween(range: Range, examples?: string) {
    const error = notAllowed(allowedDuration(range, examples));
    return z.string({ error }).refine((text) => durationWithin(range, text) !== undefined, { error });
}

/** @param example completes "such as …", in the error */
export function percentage(example?: string) {
    const error = notAllowed(allowedPercentage(example), "a percentage");
    return z.string({ error }).refine((text) => parsePercentage(text) !== undefined, { error });
}

/** Milliseconds since the epoch. */
export const instant = z.int().nonnegative();
export const milliseconds = z.number().nonnegative();
export const shareSchema = z.number().positive().max(1);

/** @param what completes "… is not", in the error @param rule for objects of its type */
export const nameSchema = (what?: string, rule = dnsLabel()) =>
    z.string().refine(rule.isValid, { error: notAllowed(rule.allowed, what) });

/** For `superRefine`: reports what is wrong with a value, in words, or with parts of it, at their places within it. */
export const refusing =
    <T>(mistakesIn: (value: T) => string | undefined | readonly { path: PropertyKey[]; message: string }[]) =>
    (value: T, context: z.RefinementCtx): void => {
        const found = mistakesIn(value) ?? [];
        const mistakes = typeof found === "string" ? [{ message: found }] : found;
        for (const mistake of mistakes) context.addIssue({ code: "custom", ...mistake });
    };

/** The same for a record: reports what is wrong with each of its entries. */
export const refusingEntries = <T>(
    mistakesIn: (name: string, value: T, all: Record<string, T>) => readonly (string | false | undefined)[],
) =>
    refusing((all: Record<string, T>) =>
        Object.entries(all).flatMap(([name, value]) =>
            mistakesIn(name, value, all).flatMap((message) => (message ? { path: [name], message } : [])),
        ),
    );

/** What is wrong with a header that is there in another case, too. */
export function repeatedHeader(name: string, all: object): string | false {
    const first = Object.keys(all).find((other) => other.toLowerCase() === name.toLowerCase())!;
    return first !== name && `is ${placeIn([first])} already: names of headers have no case; leave one of them out`;
}

/** A mistake that lies in several fields together. */
export interface Mistake {
    field: string;
    message: string;
}

/**
 * Reports mistakes that lie in several fields, even if some of these are mistakes on their own: all are reported at
 * once.
 */
export function together<T>(
    mistakesIn: (check: Partial<T>) => Mistake[],
): [(check: T, context: z.RefinementCtx) => void, { when: () => true }] {
    const report = (check: T, context: z.RefinementCtx) => {
        for (const { field, message } of mistakesIn(check ?? {}))
            context.addIssue({ code: "custom", path: field.split("."), message });
    };
    return [report, { when: () => true }];
}

/** Where an experiment is written, which decides how a person changes it. */
export interface Written {
    /**
     * Prefix of the stack's settings that the experiment is made from, such as `experiment.`. @default it is written in
     * a program
     */
    settings?: string;
    /** The stack, for commands. @default the selected one */
    stack?: string;
    /** The command that has done this run, and would do it again. @default an update, with another `run` */
    command?: string;
}

/** How to give one of an experiment's values another: completes "…: ". @param value as it is written there */
export function remedy({ settings, stack }: Written, name: string, value: string | number | boolean): string {
    if (settings === undefined) return `in the program, ${name}: ${JSON.stringify(value)}`;
    return pulumi(`config set ${settings}${name} ${quote(String(value))}`, stack);
}

/** In a sentence without a period. */
export const anotherRun = ({ settings, run, stack, command }: Written & { run: string }): string =>
    `Start another run: ${command ?? remedy({ settings, stack }, "run", `${run} again`)}`;

/** A plan that names its stack belongs to a project that has Pulumi as a package. */
const pulumi = (command: string, stack: string | undefined) =>
    stack === undefined ? `pulumi ${command}` : `npx pulumi ${command} --stack ${stack}`;

/** Completes "…: ". */
const updating = ({ stack }: Written): string => pulumi("up", stack);

/** Tries a run again that was aborted before it had its steady state: it needs no other `run`. Completes "…: ". */
export const tryingAgain = ({ command, stack }: Written): string => command ?? updating({ stack });

/** Has the same run again. Completes "…: ". */
export function repeating(plan: Written & { run: string }): string {
    if (plan.command !== undefined) return plan.command;
    if (plan.settings === undefined) return "set `run` to another text in the program, then update the stack";
    return `${remedy(plan, "run", `${plan.run} again`)} && ${updating(plan)}`;
}

/** Completes "…: ". */
export const disabling = ({ settings, stack }: Written): string =>
    settings === undefined
        ? "set `enabled` to false in the program, then run `pulumi up`"
        : `${remedy({ settings, stack }, "enabled", false)} && ${updating({ stack })}`;
