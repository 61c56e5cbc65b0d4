import type { Facts } from "./facts";

/** How long a pod goes on serving while it stops: Services need some seconds until they lead to others only. */
const sleepSeconds = 5;
const leastGraceSeconds = 2 * sleepSeconds;

/** Completes "Run …, and …". */
export const serveWhileStopping = `let each serve for ${sleepSeconds} s while it stops`;

/**
 * The patch of a pod template by which its containers serve for a while when they are stopped: a removed pod would
 * otherwise refuse requests that are still led to it. Kubernetes has `sleep` from 1.30 on.
 *
 * @returns undefined if one has a hook already, or must stop sooner
 */
export function templateThatStopsGracefully({ spec: { template } }: Facts): object | undefined {
    const { containers, terminationGracePeriodSeconds = 30 } = template.spec!;
    if (containers.some(({ lifecycle }) => lifecycle?.preStop)) return undefined;
    if (terminationGracePeriodSeconds < leastGraceSeconds) return undefined;
    const lifecycle = { preStop: { sleep: { seconds: sleepSeconds } } };
    return { spec: { containers: containers.map(({ name }) => ({ name, lifecycle })) } };
}
