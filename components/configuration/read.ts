import { parseAttributes } from "../../shared/attributes";
import type { Radius } from "../../shared/radius";
import { type Key, type ReadAs, type Setting, settings, type Workload, workloads } from "./settings";


/** A stack's configuration, read and checked. Durations are milliseconds, shares are between 0 and 1. */
export interface StackConfiguration {
    variant: "four";
    namespace: string;
    clusterName: string;
    /** The kubeconfig context that the stack names; undefined where it leaves the choice to the guard. */
    kubeContext?: string;
    gateway: { serviceType: "LoadBalancer" | "NodePort" | "ClusterIP"; addressTimeoutMs?: number };
    ingress?: { hosts: string[]; class?: string; tlsSecret?: string };
    /** Only workloads whose number the stack sets. */
    replicas: Partial<Record<Workload, number>>;
    images: { node: string; postgres: string };
    /** Size of the database's claim; undefined for an `emptyDir`. */
    databaseStorage?: string;
    experiment: ExperimentSettings;
}

export interface ExperimentSettings {
    enabled: boolean;
    name: string;
    area: string;
    /** Undefined: the saved experiment's own target. */
    target?: string;
    radius: Radius;
    attack: "blackhole";
    durationMs: number;
    intervalMs: number;
    timeoutMs: number;
    graceMs: number;
    successRate: number;
    deadlineMs: number;
    run: string;
}

/** What the reading needs to know besides the stack's own values. */
export interface Surroundings {
    project: string;
    stack: string;
    /** Names of the saved experiments. */
    experiments: readonly string[];
}

/** One thing wrong with a stack's configuration, and how to mend it. */
export interface Mistake {
    key: string;
    /** As the stack has it. */
    value: string;
    reason: string;
    command: string;
}

/** All that is wrong with a stack's configuration, told at once. */
export class ConfigurationError extends Error {
    constructor(
        stack: string,
        readonly mistakes: readonly Mistake[],
    ) {
        const told = mistakes.map(({ key, value, reason, command }) => `  ${key} is "${value}"\n    ${reason}\n    mend it with: ${command}`);
        super(`the configuration of stack ${stack} has ${mistakes.length === 1 ? "a mistake" : `${mistakes.length} mistakes`}:\n\n${told.join("\n\n")}\n`);
        this.name = "ConfigurationError";
    }
}

/**
 * Reads all of a stack's configuration in one pass.
 *
 * @param raw Every value that the stack sets, by `project:key`, as `pulumi.runtime.allConfig()` gives them. Keys of
 *   other projects (`kubernetes:…`, `pulumi:…`) are left alone.
 * @throws ConfigurationError with every mistake in it.
 */
export function readConfiguration(raw: Readonly<Record<string, string>>, around: Surroundings): StackConfiguration {
    const mistakes: Mistake[] = [];
    const own = ownValues(raw, around.project);

    for (const [key, value] of own) {
        if (!(key in settings)) mistakes.push(unknownKey(key, value));
    }

    const read = new Map<Key, unknown>();
    for (const [key, setting] of Object.entries(settings) as [Key, Setting<unknown>][]) {
        const value = own.get(key) ?? setting.default;
        if (value === undefined) continue;
        const outcome = readValue(setting, value);
        if ("reason" in outcome) mistakes.push({ key, value, reason: outcome.reason, command: setCommand(key, suggestion(setting)) });
        else read.set(key, outcome.value);
    }
    const get = <K extends Key>(key: K) => read.get(key) as ReadAs<K> | undefined;

    mistakes.push(...contradictions(get, around));
    if (mistakes.length > 0) throw new ConfigurationError(around.stack, mistakes);
    return shape(<K extends Key>(key: K) => get(key)!, get, around);
}

function ownValues(raw: Readonly<Record<string, string>>, project: string): Map<string, string> {
    const prefix = `${project}:`;
    const own = Object.entries(raw).filter(([key]) => key.startsWith(prefix));
    return new Map(own.map(([key, value]) => [key.slice(prefix.length), value]));
}

function readValue(setting: Setting<unknown>, value: string): { value: unknown } | { reason: string } {
    try {
        const result = setting.read(value);
        return result === undefined ? { reason: `allowed: ${setting.allowed}` } : { value: result };
    } catch (error) {
        return { reason: `${(error as Error).message}; allowed: ${setting.allowed}` };
    }
}

const suggestion = (setting: Setting<unknown>) => setting.default ?? setting.example ?? "VALUE";
const setCommand = (key: string, value: string) => `pulumi config set ${key} ${/[^\w.,=:/%-]/.test(value) ? `'${value}'` : value}`;

function unknownKey(key: string, value: string): Mistake {
    const nested = Object.keys(settings).filter((known) => known.startsWith(`${key}.`));
    if (nested.length > 0) {
        return {
            key,
            value,
            reason: `the keys under it have dots in their names and are set without --path: ${nested.join(", ")}`,
            command: `pulumi config rm ${key} && ${setCommand(nested[0]!, suggestion(settings[nested[0] as Key]))}`,
        };
    }
    const nearest = nearestKey(key);
    const remove = `pulumi config rm ${key}`;
    return nearest === undefined
        ? { key, value, reason: `there is no such setting; allowed: ${Object.keys(settings).join(", ")}`, command: remove }
        : { key, value, reason: `there is no such setting; did you mean ${nearest}?`, command: `${remove} && ${setCommand(nearest, value)}` };
}

/** The known key that a typing error most likely meant: at most a third of its letters differ. */
function nearestKey(key: string): string | undefined {
    const ranked = Object.keys(settings)
        .map((known) => ({ known, distance: editDistance(key.toLowerCase(), known.toLowerCase()) }))
        .sort((a, b) => a.distance - b.distance);
    const best = ranked[0]!;
    return best.distance <= Math.ceil(best.known.length / 3) ? best.known : undefined;
}

/** Levenshtein's distance: letters to insert, delete or replace. */
function editDistance(a: string, b: string): number {
    let row = Array.from({ length: b.length + 1 }, (_, j) => j);
    for (let i = 1; i <= a.length; i++) {
        const next = [i];
        for (let j = 1; j <= b.length; j++) {
            next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
        }
        row = next;
    }
    return row[b.length]!;
}

/** Mistakes between values that are each right by themselves. */
function contradictions(get: <K extends Key>(key: K) => ReadAs<K> | undefined, { experiments }: Surroundings): Mistake[] {
    const mistakes: Mistake[] = [];
    const name = get("experiment.name");
    if (name !== undefined && !experiments.includes(name)) {
        mistakes.push({
            key: "experiment.name",
            value: name,
            reason: `there is no such saved experiment; allowed: ${experiments.join(", ")}`,
            command: setCommand("experiment.name", experiments[0]!),
        });
    }
    const [duration, interval, grace, deadline] = [
        get("experiment.duration"),
        get("experiment.interval"),
        get("experiment.grace"),
        get("experiment.deadline"),
    ];
    if (duration !== undefined && interval !== undefined && interval > duration) {
        mistakes.push({
            key: "experiment.interval",
            value: `${interval}ms`,
            reason: `nothing would be asked within experiment.duration, ${duration}ms; allowed: no longer than that`,
            command: setCommand("experiment.interval", `${Math.min(1_000, duration)}ms`),
        });
    }
    if (duration !== undefined && grace !== undefined && deadline !== undefined && duration + grace >= deadline) {
        mistakes.push({
            key: "experiment.deadline",
            value: `${deadline}ms`,
            reason: `the attack would end before the check does; allowed: longer than experiment.grace and experiment.duration together, ${duration + grace}ms`,
            command: setCommand("experiment.deadline", `${Math.ceil((duration + grace) / 30_000) + 1}m`),
        });
    }
    const target = get("experiment.target");
    const area = get("experiment.area");
    if (target !== undefined && area !== undefined && area !== "Global") {
        const named = parseAttributes(target).find(({ key, negated }) => key === "k8s.namespace" && !negated);
        if (named && !named.values.includes(area)) {
            mistakes.push({
                key: "experiment.area",
                value: area,
                reason: `experiment.target looks in namespace ${named.values.join(" or ")}, outside this area; allowed: Global, or that namespace`,
                command: setCommand("experiment.area", "Global"),
            });
        }
    }
    for (const key of ["ingress.class", "ingress.tlsSecret"] as const) {
        if (get(key) !== undefined && get("ingress.hosts") === undefined) {
            mistakes.push({
                key,
                value: get(key)!,
                reason: "there is no Ingress without ingress.hosts",
                command: setCommand("ingress.hosts", "shop.example.com"),
            });
        }
    }
    return mistakes;
}

function shape(
    must: <K extends Key>(key: K) => ReadAs<K>,
    get: <K extends Key>(key: K) => ReadAs<K> | undefined,
    { stack }: Surroundings,
): StackConfiguration {
    const hosts = get("ingress.hosts");
    const replicas = workloads
        .map((workload) => [workload, workload === "database" ? undefined : get(`replicas.${workload}`)] as const)
        .filter(([, number]) => number !== undefined);
    return {
        variant: must("variant"),
        namespace: must("namespace"),
        clusterName: get("cluster.name") ?? stack,
        kubeContext: get("kube.context"),
        gateway: { serviceType: must("gateway.serviceType"), addressTimeoutMs: get("gateway.addressTimeout") },
        ingress: hosts && { hosts, class: get("ingress.class"), tlsSecret: get("ingress.tlsSecret") },
        replicas: Object.fromEntries(replicas),
        images: { node: must("images.node"), postgres: must("images.postgres") },
        databaseStorage: get("database.storage"),
        experiment: {
            enabled: must("experiment.enabled"),
            name: must("experiment.name"),
            area: must("experiment.area"),
            target: get("experiment.target"),
            radius: must("experiment.radius"),
            attack: must("experiment.attack"),
            durationMs: must("experiment.duration"),
            intervalMs: must("experiment.interval"),
            timeoutMs: must("experiment.timeout"),
            graceMs: must("experiment.grace"),
            successRate: must("experiment.successRate"),
            deadlineMs: must("experiment.deadline"),
            run: must("experiment.run"),
        },
    };
}
