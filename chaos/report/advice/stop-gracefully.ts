import type { Facts } from "./facts";

/** How long a pod goes on serving while it stops: Services need some seconds until they lead to others only. */
const sleepSeconds = 5;
const leastGraceSeconds = 2 * sleepSeconds;

/**
 * What has pods serve for a while when they are stopped: a removed pod would otherwise refuse requests that are still
 * led to it. Kubernetes has `sleep` from 1.30 on.
 *
 * @returns `change`: the end of a sentence, empty if the pods have a hook for that already; `template`: the patch of
 *   their template, absent then. Undefined if they must stop sooner
 */
export function stoppingGracefully({ spec: { template } }: Facts): { change: string; template?: object } | undefined {
    const { containers, terminationGracePeriodSeconds = 30 } = template.spec!;
    if (containers.some(({ lifecycle }) => lifecycle?.preStop)) return { change: "" };
    if (terminationGracePeriodSeconds < leastGraceSeconds) return undefined;
    const lifecycle = { preStop: { sleep: { seconds: sleepSeconds } } };
    return {
        change: `, and let each serve for ${sleepSeconds} s while it stops`,
        template: { spec: { containers: containers.map(({ name }) => ({ name, lifecycle })) } },
    };
}
