import type { Proof } from "../attacks/kind";
import { endpoint } from "../job/protocol";
import { onePerPod } from "../targets/pods";
import type { Target } from "../targets/containers";

/** A connection to try from within a container. */
export interface Connection {
    from: Target;
    question: { connect: { host: string; port: number } };
}

const anyPort = () => true;

/** A connection from the pod of each of some containers to each declared TCP port that is asked for, of others. */
export function connections(
    from: readonly Target[],
    to: readonly Target[],
    isAskedFor: (port: number) => boolean = anyPort,
): Connection[] {
    const questions = to.flatMap(({ address: host, ports }) =>
        ports.filter(isAskedFor).map((port) => ({ connect: { host, port } })),
    );
    return onePerPod(from).flatMap((source) => questions.map((question) => ({ from: source, question })));
}

/** The endpoints of some containers at which an attack denies connections. None if it denies none into them. */
export const attackedEndpoints = (targets: readonly Target[], inward: Proof["inward"]): string[] =>
    inward ? endpointsOfTargets(targets, (port) => inward.ports?.includes(port) ?? true) : [];

/** The endpoints of every declared TCP port of some containers, or only those that are asked for. */
export function endpointsOfTargets(
    targets: readonly Target[],
    isAskedFor: (port: number) => boolean = anyPort,
): string[] {
    return targets.flatMap(({ address, ports }) => ports.filter(isAskedFor).map((port) => endpoint(address, port)));
}
