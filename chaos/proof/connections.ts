import { isIPv6 } from "node:net";
import type { Proof } from "../kinds/attacks/attack-kind";
import { endpoint, parseEndpoint } from "../witness/protocol";
import type { ResolvedHost } from "../targets/choose";
import { onePerPod } from "../targets/pods";
import { addressesOfTarget, type Target } from "../targets/containers";

/** A connection to try from within a container. */
export interface Connection {
    /** As a part of a sentence: "from api-1/api to 10.0.0.7 at port 8080". */
    name: string;
    from: Target;
    question: { connect: { host: string; port: number } };
}

const anyPort = () => true;

/**
 * A connection from the pod of each of some containers to each known TCP port that is asked for, of others, at each
 * of their addresses.
 */
export function connections(
    from: readonly Target[],
    to: readonly Target[],
    isAskedFor: (port: number) => boolean = anyPort,
): Connection[] {
    const questions = endpointsOfTargets(to, isAskedFor).map((one) => ({ connect: parseEndpoint(one) }));
    return onePerPod(from).flatMap((source) => questions.map((question) => connection(source, question)));
}

/** A connection from the pod of each of some containers to each address of a host. */
export const connectionsTo = ({ host, port, addresses }: ResolvedHost, from: readonly Target[]): Connection[] =>
    onePerPod(from).flatMap((source) =>
        addresses.map((address) => {
            const to = host === address ? host : `${host} (${address})`;
            const name = `from ${source.pod}/${source.container} to ${to} at port ${port}`;
            return { name, from: source, question: { connect: { host: address, port } } };
        }),
    );

/**
 * A connection from the pod of each of some containers to the witness, at each of its addresses. They are told apart by
 * their families: the witness may get another pod.
 */
export const connectionsToWitness = (addresses: readonly string[], port: number, from: readonly Target[]) =>
    onePerPod(from).flatMap((source) =>
        addresses.map((host): Connection => {
            const over = addresses.length > 1 ? ` over ${isIPv6(host) ? "IPv6" : "IPv4"}` : "";
            const name = `from ${source.pod}/${source.container} to another pod${over} at port ${port}`;
            return { name, from: source, question: { connect: { host, port } } };
        }),
    );

function connection(from: Target, question: Connection["question"]): Connection {
    const { host, port } = question.connect;
    return { name: `from ${from.pod}/${from.container} to ${host} at port ${port}`, from, question };
}

/** The endpoints of some containers at which an attack denies connections. None if it denies none into them. */
export const attackedEndpoints = (targets: readonly Target[], inward: Proof["inward"]): string[] =>
    inward ? endpointsOfTargets(targets, (port) => inward.ports?.includes(port) ?? true) : [];

/**
 * The endpoints of every known TCP port of some containers, or only those that are asked for, at each of their
 * addresses: each once.
 */
export function endpointsOfTargets(
    targets: readonly Target[],
    isAskedFor: (port: number) => boolean = anyPort,
): string[] {
    const all = targets.flatMap((target) =>
        addressesOfTarget(target).flatMap((address) =>
            target.ports.filter(isAskedFor).map((port) => endpoint(address, port)),
        ),
    );
    return [...new Set(all)];
}
