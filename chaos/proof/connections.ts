import type { Target } from "../targets/containers";

/** A connection to try from within a container. */
export interface Connection {
    from: Target;
    question: { connect: { host: string; port: number } };
}

/** A connection from each of some containers to each declared TCP port that is asked for, of each of others. */
export function connections(
    from: readonly Target[],
    to: readonly Target[],
    isAskedFor?: (port: number) => boolean,
): Connection[] {
    const questions = socketsOf(to, isAskedFor).map((connect) => ({ connect }));
    return from.flatMap((source) => questions.map((question) => ({ from: source, question })));
}

/** Every declared TCP port of every container, or only those that are asked for. */
export function socketsOf(
    containers: readonly Target[],
    isAskedFor: (port: number) => boolean = () => true,
): { host: string; port: number }[] {
    return containers.flatMap(({ address: host, ports }) => ports.filter(isAskedFor).map((port) => ({ host, port })));
}
