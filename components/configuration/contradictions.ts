import { parseAttributes } from "../../shared/attributes";
import { formatDuration } from "../../shared/duration";
import { type Mistake, setCommand } from "./mistakes";
import type { KnownExperiment } from "./read";
import type { Key, ReadAs } from "./settings";

/**
 * Mistakes between values that are each right by themselves.
 *
 * @param get what a key was read as; undefined where it is not set, or wrong by itself
 * @param experiments the saved experiments
 */
export function contradictions(
    get: <K extends Key>(key: K) => ReadAs<K> | undefined,
    experiments: readonly KnownExperiment[],
): Mistake[] {
    const mistakes: Mistake[] = [];
    const name = get("experiment.name");
    const variant: string | undefined = get("variant");
    const experiment = experiments.find((known) => known.name === name);
    const fitting = experiments
        .filter((known) => known.variant === undefined || known.variant === variant)
        .map((known) => known.name);
    if (name !== undefined && experiment === undefined) {
        mistakes.push({
            key: "experiment.name",
            value: name,
            reason: `there is no such saved experiment; allowed: ${fitting.join(", ")}`,
            command: setCommand("experiment.name", fitting[0]!),
        });
    }
    if (experiment?.variant !== undefined && variant !== undefined && experiment.variant !== variant) {
        mistakes.push({
            key: "experiment.name",
            value: experiment.name,
            reason: `it needs what only variant ${experiment.variant} has, and this stack is variant ${variant}; allowed: ${fitting.join(", ")}`,
            command: setCommand("variant", experiment.variant),
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
            value: formatDuration(interval),
            reason: `nothing would be asked within experiment.duration, ${formatDuration(duration)}; allowed: no longer than that`,
            command: setCommand("experiment.interval", formatDuration(Math.min(1_000, duration))),
        });
    }
    if (duration !== undefined && grace !== undefined && deadline !== undefined && duration + grace >= deadline) {
        mistakes.push({
            key: "experiment.deadline",
            value: formatDuration(deadline),
            reason: `the attack would end before the check does; allowed: longer than experiment.grace and experiment.duration together, ${formatDuration(duration + grace)}`,
            command: setCommand("experiment.deadline", `${Math.ceil((duration + grace) / 30_000) + 1}m`),
        });
    }
    const waits = (experiment?.actions ?? []).reduce(
        (sum, { kind, durationMs = 0 }) => sum + (kind === "wait" ? durationMs : 0),
        0,
    );
    if (duration !== undefined && grace !== undefined && waits >= duration + grace) {
        mistakes.push({
            key: "experiment.duration",
            value: formatDuration(duration),
            reason: `the actions of ${name} wait ${formatDuration(waits)} in all, and the checks would end before them; allowed: with experiment.grace, ${formatDuration(grace)}, longer than that`,
            command: setCommand("experiment.duration", `${Math.ceil((waits - grace) / 1_000) + 1}s`),
        });
    }
    for (const key of ["experiment.target", "experiment.attack"] as const) {
        const value = get(key);
        if (value !== undefined && (experiment?.attacks?.length ?? 0) > 1) {
            mistakes.push({
                key,
                value,
                reason: `${name} has several attacks (${experiment!.attacks!.map(({ kind }) => kind).join(", ")}), and it would not be clear which one is meant; allowed: with an experiment of one attack`,
                command: `pulumi config rm ${key}`,
            });
        }
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
    for (const key of ["replicas.orders", "replicas.inventory", "broker.storage"] as const) {
        if (get(key) !== undefined && get("variant") === "four") {
            mistakes.push({
                key,
                value: String(get(key)),
                reason: "there is no such workload in variant four; allowed: in variant seven",
                command: setCommand("variant", "seven"),
            });
        }
    }
    if (
        get("storage.class") !== undefined &&
        get("database.storage") === undefined &&
        get("broker.storage") === undefined
    ) {
        mistakes.push({
            key: "storage.class",
            value: get("storage.class")!,
            reason: "there is no claim without database.storage or broker.storage",
            command: setCommand("database.storage", "1Gi"),
        });
    }
    for (const key of ["ingress.class", "ingress.tlsSecret", "ingress.annotations"] as const) {
        const value = get(key);
        if (value !== undefined && get("ingress.hosts") === undefined) {
            mistakes.push({
                key,
                value:
                    typeof value === "string"
                        ? value
                        : Object.entries(value)
                              .map((pair) => pair.join("="))
                              .join(","),
                reason: "there is no Ingress without ingress.hosts",
                command: setCommand("ingress.hosts", "shop.example.com"),
            });
        }
    }
    return mistakes;
}
