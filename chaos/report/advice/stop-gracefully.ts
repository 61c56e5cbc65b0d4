import type { Facts } from "./facts";

/** How long a pod goes on serving while it stops: Services need some seconds until they lead to others only. */
const sleepSeconds = 5;
const leastGraceSeconds = 2 * sleepSeconds;

/**
 * What has pods serve for a while when they are stopped: a removed pod would otherwise refuse requests that are still
 * led to it. Kubernetes has `sleep` from 1.30 on.
 *
 * @returns `change`: the end of a sentence; `without`: names of the containers without a hook for that; `changes`: of
 *   a container, by its name. Undefined if there are such containers, and pods must stop sooner
 */
export function stoppingGracefully({
    spec: { template },
}: Facts): { change: string; without: string[]; changes?: (container: string) => object } | undefined {
    const { containers, terminationGracePeriodSeconds = 30 } = template.spec!;
    const without = containers.filter(({ lifecycle }) => !lifecycle?.preStop).map(({ name }) => name);
    if (without.length === 0) return { change: "", without };
    if (terminationGracePeriodSeconds < leastGraceSeconds) return undefined;
    const lifecycle = { preStop: { sleep: { seconds: sleepSeconds } } };
    return {
        change: `, and let each serve for ${sleepSeconds} s while it stops`,
        without,
        changes: (name) => (without.includes(name) ? { lifecycle } : {}),
    };
}
