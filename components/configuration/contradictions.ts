import { parseAttributes } from "../../shared/attributes";
import { type Mistake, setCommand } from "./mistakes";
import type { Key, ReadAs } from "./settings";

/**
 * Mistakes between values that are each right by themselves.
 *
 * @param get what a key was read as; undefined where it is not set, or wrong by itself
 * @param experiments names of the saved experiments
 */
export function contradictions(get: <K extends Key>(key: K) => ReadAs<K> | undefined, experiments: readonly string[]): Mistake[] {
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
