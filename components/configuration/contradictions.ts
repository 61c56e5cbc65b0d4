import { attackKinds, findsTargets, onlyReadyOf, wrongOptionsOf } from "../../chaos/kinds/attacks/registry";
import { abortRuleOf, contradictionsIn } from "../../chaos/kinds/checks/abort";
import { type CheckSettings, completed } from "../../chaos/kinds/checks/check-kind";
import { changeLimitsOf } from "../../chaos/kinds/checks/change-limits";
import { patched } from "../../chaos/definition/patch";
import { timeMistakes } from "../../chaos/definition/time-mistakes";
import { formatDuration } from "../../chaos/values/duration";
import type { AttackDefinition } from "../../chaos/index";
import { describeShare } from "../../chaos/values/share";
import { parseAttributes } from "../../chaos/targets/attributes";
import { agentMistakes, plaintextKey } from "./agent";
import { changesOfChecks, confidenceOfChecks } from "./enough-answers";
import { installMistakes, isHeededBy } from "./install";
import { type Found, nearestFirst } from "./mistakes";
import {
    connections,
    fieldsOf,
    type Given,
    type Key,
    type KnownExperiment,
    mostPodsOnDatabase,
    type Values,
} from "./settings";

interface Facts extends Given {
    /** The saved experiment that `experiment.name` names. Undefined if there is none. */
    experiment?: KnownExperiment;
    /** Its attacks, as the settings change them. */
    attacks: readonly AttackDefinition[];
    /** Names of the saved experiments that run on the stack's variant, for messages. */
    fitting: readonly string[];
}

/** Each checks values that are valid one by one but not together, and returns the mistakes that it finds. */
const rules: readonly ((facts: Facts) => Found[])[] = [
    unknownExperiment,
    experimentOfOtherVariant,
    timesOfRun,
    abortRuleOfCheck,
    (facts) => eachOnce(confidenceOfChecks(facts)),
    (facts) => eachOnce(changesOfChecks(facts)),
    baselineOfNothing,
    overrideOfNotOneAttack,
    notReadyWhereOnlyReadyAre,
    attackWithoutTarget,
    optionsOfOtherAttacks,
    areaWithoutTarget,
    idleSettings,
    replicasBeyondDatabase,
    plaintextKey,
    agentMistakes,
    installMistakes,
];

export function contradictions(given: Given): Found[] {
    const { get, around } = given;
    const variant = get("variant");
    const experiment = around.experiments.find(({ name }) => name === get("experiment.name"));
    // Nothing has checked the saved experiment yet.
    const attacks = experiment?.attacks?.filter(({ kind }) => attackKinds.includes(kind)) ?? [];
    const facts: Facts = {
        ...given,
        experiment,
        attacks: patched({ attacks }, fieldsOf("experiment", get)).attacks,
        fitting: around.experiments
            .filter((known) => known.variant === undefined || known.variant === variant)
            .map(({ name }) => name),
    };
    return rules.flatMap((rule) => rule(facts));
}

/** A mistake that another value of its setting corrects. */
const correct = (key: Key, reason: string, better: string): Found => ({ key, reason, mend: { [key]: better } });

function unknownExperiment({ get, experiment, fitting }: Facts) {
    const name: string | undefined = get("experiment.name");
    if (experiment !== undefined || name === undefined) return [];
    const reason = `there is no such saved experiment; allowed: ${fitting.join(", ")}`;
    return [correct("experiment.name", reason, nearestFirst(name, fitting)[0]!)];
}

function experimentOfOtherVariant({ get, experiment, fitting }: Facts) {
    const variant: string | undefined = get("variant");
    if (experiment?.variant === undefined || variant === undefined || experiment.variant === variant) return [];
    const reason =
        `it needs variant ${experiment.variant}, and this stack is variant ${variant}; ` +
        `allowed: ${fitting.join(", ")}`;
    return [{ key: "experiment.name", reason, mend: { variant: experiment.variant } }];
}

function timesOfRun({ get, experiment, attacks }: Facts) {
    const times = {
        durationMs: get("experiment.duration"),
        // Without an attack, all answers count.
        graceMs: experiment && !experiment.attacks?.length ? 0 : get("experiment.grace"),
        intervalMs: get("experiment.interval"),
        baselineMs: isCompared(experiment, get) ? get("experiment.baseline") : undefined,
        deadlineMs: get("experiment.deadline"),
        until: get("experiment.until"),
        attacks,
    };
    return timeMistakes(times, experiment?.actions).map(({ against, reason, betterMs }) =>
        // Actions are the saved experiment's.
        correct(`experiment.${against === "actions" ? "duration" : against}`, reason, formatDuration(betterMs)),
    );
}

function overrideOfNotOneAttack({ get, experiment }: Facts) {
    const kinds = (experiment?.attacks ?? []).map(({ kind }) => kind);
    if (experiment === undefined || kinds.length === 1) return [];
    const has = kinds.length === 0 ? "attacks nothing" : `has several attacks (${kinds.join(", ")})`;
    const reason = `${experiment.name} ${has}; allowed: only for an experiment with one attack`;
    return (["experiment.target", "experiment.attack"] as const)
        .filter((key) => get(key) !== undefined)
        .map((key) => ({ key, reason, mend: { [key]: undefined } }));
}

function notReadyWhereOnlyReadyAre({ get, attacks }: Facts) {
    const reason = attacks.map(({ kind }) => onlyReadyOf(kind)).find(Boolean);
    if (!reason || !get("experiment.includeNotReady")) return [];
    return [correct("experiment.includeNotReady", `the attack ${reason}`, "false")];
}

/** An attack that finds its targets itself needs none; another does. */
function attackWithoutTarget({ get, experiment }: Facts) {
    if (get("experiment.attack") === undefined || get("experiment.target") !== undefined) return [];
    if (!experiment?.attacks?.some(({ kind, target }) => target === undefined && findsTargets(kind))) return [];
    const reason = `${experiment.name} has no target for another attack; set one`;
    return [{ key: "experiment.attack", reason, mend: { "experiment.target": "k8s.deployment=hot-deals" } }];
}

/** What an experiment that has such an option does, in a sentence. */
const saved = {
    established: "requires that established connections are cut",
    outward: "accepts that outward is not proven",
};

function optionsOfOtherAttacks({ get, experiment, attacks }: Facts) {
    return wrongOptionsOf(...attacks).flatMap(({ field, otherwise, why }): Found[] => {
        const key = `experiment.${field}` as const;
        if (get(key) !== undefined) return [correct(key, `this ${why}`, otherwise)];
        // A mistake in the saved experiment itself is reported with its others.
        if (get("experiment.attack") === undefined) return [];
        const reason = `${experiment!.name} ${saved[field]}, which ${why}`;
        return [{ key: "experiment.attack", reason, mend: { [key]: otherwise } }];
    });
}

function areaWithoutTarget({ get }: Facts) {
    const [target, area] = [get("experiment.target"), get("experiment.area")];
    if (target === undefined || area === undefined || area === "Global") return [];
    const named = parseAttributes(target).find(({ key, negated }) => key === "k8s.namespace" && !negated);
    if (!named || named.values.includes(area)) return [];
    const reason =
        `experiment.target selects namespace ${named.values.join(" or ")}, outside this area; ` +
        "allowed: Global, or that namespace";
    return [correct("experiment.area", reason, "Global")];
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

function idleSettings({ get }: Given) {
    const install = get("install") ?? "program";
    return dependent.flatMap(({ keys, isIdle, reason, remedy }) =>
        keys
            // Another way to install the shop rejects the setting by itself.
            .filter((key) => get(key) !== undefined && isIdle(get) && isHeededBy(key, install))
            .map((key) => ({ key, reason, mend: Object.fromEntries([remedy]) })),
    );
}

/** A pod too many would fail at random, whenever the others are busy. */
function replicasBeyondDatabase({ get }: Given) {
    const keys = (["fashion-bestseller", "toys-bestseller", "hot-deals", "orders", "inventory"] as const)
        .map((workload) => `replicas.${workload}` as const)
        .slice(0, get("variant") === "seven" ? 5 : 3);
    const podsOf = (key: (typeof keys)[number]) => get(key) ?? 1;
    const sum = (some: typeof keys) => some.reduce((total, key) => total + podsOf(key), 0);
    const most = mostPodsOnDatabase(keys.length);
    if (get("install") !== "program" || sum(keys) <= most) return [];
    const large = keys.filter((key) => podsOf(key) > most / keys.length);
    const fits = Math.floor((most - sum(keys.filter((key) => !large.includes(key)))) / large.length);
    const reason =
        `the workloads that use the database have ${sum(keys)} pods together, and its ${connections.all} ` +
        `connections are enough for ${most}; allowed: at most ${fits}`;
    return large.map((key) => correct(key, `${reason}${large.length > 1 ? " each" : ""}`, String(fits)));
}

/**
 * What the abort rules of an experiment's checks contradict in the settings, each setting once. What a check
 * contradicts by itself is reported as a mistake in its experiment.
 */
function abortRuleOfCheck({ get, experiment }: Facts) {
    const [durationMs, intervalMs] = [get("experiment.duration"), get("experiment.interval")];
    const successRate = get("experiment.successRate");
    if (durationMs === undefined || intervalMs === undefined || successRate === undefined) return [];
    const found = (experiment?.checks ?? [{}]).flatMap((check: CheckSettings) => {
        const rule = abortRuleOf(check, get("experiment.abortBelow"));
        if (rule === undefined) return [];
        const observed = { durationMs, ...completed(check, { intervalMs, successRate }) };
        const over = formatDuration(rule.overMs);
        return contradictionsIn(rule, observed).flatMap(({ against, reason }): Found[] => {
            const allow = (key: Key, allowed: string, better: string) => [
                correct(key, `${reason}; allowed: ${allowed}`, better),
            ];
            switch (against) {
                case "durationMs":
                    return allow("experiment.duration", `at least ${over}`, over);
                case "intervalMs": {
                    const better = formatDuration(Math.min(1_000, rule.overMs / 2));
                    return check.perSecond === undefined
                        ? allow("experiment.interval", `less than ${over}`, better)
                        : [];
                }
                case "successRate": {
                    const [limit, rate] = [describeShare(rule.below), describeShare(observed.successRate)];
                    if (check.abortBelow === undefined) return allow("experiment.abortBelow", `at most ${rate}`, rate);
                    if (check.successRate !== undefined) return [];
                    return allow("experiment.successRate", `at least ${limit}`, limit);
                }
            }
        });
    });
    return eachOnce(found);
}

/** A baseline does nothing if no check is compared with it. A limit that cannot be read may compare one. */
function baselineOfNothing({ get, own, experiment }: Facts): Found[] {
    if (!own.has("experiment.baseline") || own.has("experiment.latency")) return [];
    if (experiment === undefined || get("experiment.baseline") === undefined || isCompared(experiment, get)) return [];
    const reason =
        `no check of ${experiment.name} is compared with before the attack; allowed: leave it out, or set ` +
        "experiment.latency, too";
    return [{ key: "experiment.baseline", reason, mend: { "experiment.baseline": undefined } }];
}

const isCompared = (experiment: KnownExperiment | undefined, get: Values) =>
    get("experiment.latency") !== undefined || experiment?.checks?.some((check) => changeLimitsOf(check) !== undefined);

const eachOnce = (found: readonly Found[]) =>
    found.filter(({ key }, index) => found.findIndex((other) => other.key === key) === index);
