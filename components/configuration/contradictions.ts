import {
    type Attack,
    attackKinds,
    cutIsNotShown,
    deniesInward,
    findsTargets,
    mayStayUnproven,
    onlyReadyOf,
    outwardMustBeProven,
} from "../../chaos/attacks/registry";
import { type AbortContradiction, type AbortRule, abortRuleOf, contradictionsIn } from "../../chaos/checks/abort";
import type { CheckSettings } from "../../chaos/checks/kind";
import { timeMistakes } from "../../chaos/definition/time-mistakes";
import { formatDuration } from "../../chaos/duration";
import { describeShare, type Share } from "../../chaos/share";
import { parseAttributes } from "../../chaos/targets/attributes";
import { type Mistake, setCommand } from "./mistakes";
import type { Key, KnownExperiment, Values } from "./settings";

/** A check of values that are valid one by one but not together. It returns the mistakes that it finds. */
type Rule = (facts: Facts) => Mistake | Mistake[] | false | undefined;

interface Facts {
    get: Values;
    /** The saved experiment that `experiment.name` names. Undefined if there is none. */
    experiment?: KnownExperiment;
    /** Names of the saved experiments that run on the stack's variant, for messages. */
    fitting: readonly string[];
}

const rules: readonly Rule[] = [
    unknownExperiment,
    experimentOfOtherVariant,
    timesOfRun,
    abortRuleOfCheck,
    overrideOfNotOneAttack,
    notReadyWhereOnlyReadyAre,
    attackWithoutTarget,
    wishesOfOtherAttacks,
    areaWithoutTarget,
    idleSettings,
];

/**
 * Finds the values that are valid one by one but contradict one another.
 *
 * @param get a setting's value; undefined if it is unset or invalid
 * @param experiments the saved experiments
 */
export function contradictions(get: Values, experiments: readonly KnownExperiment[]): Mistake[] {
    const variant = get("variant");
    const facts: Facts = {
        get,
        experiment: experiments.find(({ name }) => name === get("experiment.name")),
        fitting: experiments
            .filter((known) => known.variant === undefined || known.variant === variant)
            .map(({ name }) => name),
    };
    return rules.flatMap((rule) => rule(facts) || []);
}

function unknownExperiment({ get, experiment, fitting }: Facts) {
    const name = get("experiment.name");
    return (
        name !== undefined &&
        experiment === undefined && {
            key: "experiment.name",
            value: name,
            reason: `there is no such saved experiment; allowed: ${fitting.join(", ")}`,
            command: setCommand("experiment.name", fitting[0]!),
        }
    );
}

function experimentOfOtherVariant({ get, experiment, fitting }: Facts) {
    const variant: string | undefined = get("variant");
    if (experiment?.variant === undefined || variant === undefined || experiment.variant === variant) return;
    return {
        key: "experiment.name",
        value: experiment.name,
        reason:
            `it needs variant ${experiment.variant}, and this stack is variant ${variant}; ` +
            `allowed: ${fitting.join(", ")}`,
        command: setCommand("variant", experiment.variant),
    };
}

function timesOfRun({ get, experiment }: Facts) {
    const times = {
        durationMs: get("experiment.duration"),
        // Without an attack, all answers count.
        graceMs: isWithoutAttack(experiment) ? 0 : get("experiment.grace"),
        intervalMs: get("experiment.interval"),
        deadlineMs: get("experiment.deadline"),
    };
    return timeMistakes(times, experiment?.actions).map(({ against, reason, betterMs }) => {
        // Actions are the saved experiment's.
        const key = against === "actions" ? "experiment.duration" : (`experiment.${against}` as const);
        return {
            key,
            value: formatDuration(get(key)!),
            reason,
            command: setCommand(key, formatDuration(betterMs)),
        };
    });
}

const isWithoutAttack = (experiment: KnownExperiment | undefined) =>
    experiment !== undefined && (experiment.attacks ?? []).length === 0;

function overrideOfNotOneAttack({ get, experiment }: Facts) {
    const kinds = (experiment?.attacks ?? []).map(({ kind }) => kind);
    if (experiment === undefined || kinds.length === 1) return;
    const has = kinds.length === 0 ? "attacks nothing" : `has several attacks (${kinds.join(", ")})`;
    return valuesOf(get, ["experiment.target", "experiment.attack"]).map((found) => ({
        ...found,
        reason: `${experiment.name} ${has}; allowed: only for an experiment with one attack`,
        command: `pulumi config rm ${found.key}`,
    }));
}

function notReadyWhereOnlyReadyAre({ get, experiment }: Facts) {
    const kinds = experiment?.attacks?.map(({ kind }) => get("experiment.attack") ?? kind) ?? [];
    if (!get("experiment.includeNotReady")) return;
    const reason = kinds.map((kind) => isAttackKind(kind) && onlyReadyOf(kind)).find(Boolean);
    if (!reason) return;
    return {
        key: "experiment.includeNotReady",
        value: "true",
        reason: `the attack ${reason}`,
        command: setCommand("experiment.includeNotReady", "false"),
    };
}

/** An attack that finds its targets itself needs none; another does. */
function attackWithoutTarget({ get, experiment }: Facts) {
    const kind = get("experiment.attack");
    if (kind === undefined || get("experiment.target") !== undefined) return;
    const isAimless = ({ kind, target }: { kind: string; target?: string }) =>
        target === undefined && isAttackKind(kind) && findsTargets(kind);
    if (!experiment?.attacks?.some(isAimless)) return;
    return {
        key: "experiment.attack",
        value: kind,
        reason: `${experiment.name} has no target for another attack; set one`,
        command: setCommand("experiment.target", "k8s.deployment=NAME"),
    };
}

/** A field of each attack that only some attacks may have. */
interface Wish {
    field: "established" | "outward";
    wish: string;
    /** The value that any attack may have. */
    otherwise: string;
    canHave: (attack: Attack) => boolean;
    /** Why others cannot; completes a sentence. */
    others: string;
    /** Completes "The saved experiment …". */
    told: string;
}

const wishes: readonly Wish[] = [
    {
        field: "established",
        wish: "cut",
        otherwise: "any",
        canHave: deniesInward,
        others: cutIsNotShown,
        told: "wants established connections cut",
    },
    {
        field: "outward",
        wish: "unproven",
        otherwise: "proven",
        canHave: mayStayUnproven,
        others: outwardMustBeProven,
        told: "accepts that outward is not proven",
    },
];

function wishesOfOtherAttacks(facts: Facts) {
    return wishes.flatMap((wish) => wishOfOtherAttacks(facts, wish) ?? []);
}

function wishOfOtherAttacks(
    { get, experiment }: Facts,
    { field, wish, otherwise, canHave, others, told }: Wish,
): Mistake | undefined {
    const key = `experiment.${field}` as const;
    const [value, kind] = [get(key), get("experiment.attack")];
    // A mistake in the saved experiment itself is told with its others.
    if (value === undefined && kind === undefined) return undefined;
    const isMistaken = (experiment?.attacks ?? []).some((attack) => {
        const attacked = kind === undefined || kind === attack.kind ? attack : { kind };
        return (value ?? attack[field]) === wish && isAttackKind(attacked.kind) && !canHave(attacked as Attack);
    });
    if (!isMistaken) return undefined;
    const command = setCommand(key, otherwise);
    if (value !== undefined) return { key, value, reason: `this ${others}`, command };
    return { key: "experiment.attack", value: kind!, reason: `${experiment!.name} ${told}, which ${others}`, command };
}

const isAttackKind = (kind: string): kind is Attack["kind"] => (attackKinds as string[]).includes(kind);

function areaWithoutTarget({ get }: Facts) {
    const [target, area] = [get("experiment.target"), get("experiment.area")];
    if (target === undefined || area === undefined || area === "Global") return;
    const named = parseAttributes(target).find(({ key, negated }) => key === "k8s.namespace" && !negated);
    if (!named || named.values.includes(area)) return;
    return {
        key: "experiment.area",
        value: area,
        reason:
            `experiment.target selects namespace ${named.values.join(" or ")}, outside this area; ` +
            "allowed: Global, or that namespace",
        command: setCommand("experiment.area", "Global"),
    };
}

/** Settings that do nothing in a stack without another one. */
const dependent: { keys: Key[]; isIdle: (get: Values) => boolean; reason: string; remedy: [Key, string] }[] = [
    {
        keys: ["replicas.orders", "replicas.inventory", "broker.storage"],
        isIdle: (get) => get("variant") === "four",
        reason: "variant four has no such workload; allowed: in variant seven",
        remedy: ["variant", "seven"],
    },
    {
        keys: ["storage.class"],
        isIdle: (get) => (get("database.storage") ?? get("broker.storage")) === undefined,
        reason: "without database.storage or broker.storage there is no PersistentVolumeClaim",
        remedy: ["database.storage", "1Gi"],
    },
    {
        keys: ["ingress.class", "ingress.tlsSecret", "ingress.annotations"],
        isIdle: (get) => get("ingress.hosts") === undefined,
        reason: "without ingress.hosts there is no Ingress",
        remedy: ["ingress.hosts", "shop.example.com"],
    },
];

function idleSettings({ get }: Facts) {
    return dependent
        .filter(({ isIdle }) => isIdle(get))
        .flatMap(({ keys, reason, remedy }) =>
            valuesOf(get, keys).map((found) => ({ ...found, reason, command: setCommand(...remedy) })),
        );
}

/** Those of the settings that have a value, with it as the user wrote it. */
function valuesOf(get: Values, keys: readonly Key[]): { key: Key; value: string }[] {
    return keys.flatMap((key) => {
        const value = get(key);
        return value === undefined ? [] : [{ key, value: textOf(value) }];
    });
}

function textOf(value: unknown): string {
    if (typeof value !== "object" || value === null) return String(value);
    return Object.entries(value)
        .map((pair) => pair.join("="))
        .join(",");
}

/**
 * What the abort rules of an experiment's checks contradict in the settings, each setting once. What a check
 * contradicts by itself is told as a mistake in its experiment.
 *
 * @param experiment the saved experiment, if there is one
 */
function abortRuleOfCheck({ get, experiment }: { get: Values; experiment?: KnownExperiment }) {
    const [durationMs, intervalMs] = [get("experiment.duration"), get("experiment.interval")];
    const successRate = get("experiment.successRate");
    if (durationMs === undefined || intervalMs === undefined || successRate === undefined) return;
    const mistakes = (experiment?.checks ?? [{}]).flatMap((check: CheckSettings) => {
        const rule = abortRuleOf(check, get("experiment.abortBelow"));
        const completed = {
            durationMs,
            intervalMs: check.perSecond === undefined ? intervalMs : 1_000 / check.perSecond,
            successRate: check.successRate ?? successRate,
        };
        if (rule === undefined) return [];
        return contradictionsIn(rule, completed).flatMap((fault) => abortMistake(fault, rule, check, completed) ?? []);
    });
    return mistakes.filter(({ key }, index) => mistakes.findIndex((other) => other.key === key) === index);
}

function abortMistake(
    { against, reason }: AbortContradiction,
    { below, overMs }: AbortRule,
    check: CheckSettings,
    { durationMs, intervalMs, successRate }: { durationMs: number; intervalMs: number; successRate: Share },
): Mistake | undefined {
    const mistake = (key: Key, value: string, allowed: string, better: string) => ({
        key,
        value,
        reason: `${reason}; allowed: ${allowed}`,
        command: setCommand(key, better),
    });
    const [over, limit, rate] = [formatDuration(overMs), describeShare(below), describeShare(successRate)];
    switch (against) {
        case "durationMs":
            return mistake("experiment.duration", formatDuration(durationMs), `at least ${over}`, over);
        case "intervalMs":
            if (check.perSecond !== undefined) return undefined;
            return mistake(
                "experiment.interval",
                formatDuration(intervalMs),
                `less than ${over}`,
                formatDuration(Math.min(1_000, overMs / 2)),
            );
        case "successRate":
            if (check.abortBelow === undefined) return mistake("experiment.abortBelow", limit, `at most ${rate}`, rate);
            if (check.successRate !== undefined) return undefined;
            return mistake("experiment.successRate", rate, `at least ${limit}`, limit);
    }
}
