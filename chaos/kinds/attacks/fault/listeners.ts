import { isDeepStrictEqual } from "node:util";
import { type Pod, portNumberIn } from "../../../values/kubernetes-rules";

interface Listener {
    listen: number;
    /** By which the Service and policies find this port of the proxy. */
    name?: string;
    /** The number that it stands for in each pod. Undefined for a pod without such a port. */
    numbers: readonly (number | undefined)[];
}

/** Where ports listen of which no number is left. */
const firstFree = 18_080;

/**
 * Where a proxy listens for each target port of a Service. A number is its own. For a name it is one of the numbers
 * that it has in the pods, so that callers' policies with numbers let them through: the proxy has the name, too, which
 * leads the Service to it, and knows from EndpointSlices where each pod listens.
 *
 * Two ports share a listener if they lead to the same number in every pod, unless they have two names: a pod that is
 * applied by its server may list a number once.
 */
export function listenersFor(targets: readonly (number | string)[], pods: readonly Pod[]): number[] {
    const listeners: Listener[] = [];
    const isTaken = (number: number | undefined) => listeners.some(({ listen }) => listen === number);
    // Names have a choice, so they come last.
    const isName = (target: number | string) => Number(typeof target === "string");
    for (const target of new Set([...targets].sort((a, b) => isName(a) - isName(b)))) {
        const numbers = pods.map((pod) => portNumberIn(pod, target));
        const name = typeof target === "string" ? target : undefined;
        const shared = listeners.find((one) => one.name === undefined && isDeepStrictEqual(one.numbers, numbers));
        if (name !== undefined && shared) {
            shared.name = name;
            continue;
        }
        const wanted = typeof target === "number" ? [target] : numbers;
        let listen = wanted.find((number) => number !== undefined && !isTaken(number)) ?? firstFree;
        while (isTaken(listen)) listen++;
        listeners.push({ listen, name, numbers });
    }
    return targets.map(
        (target) =>
            listeners.find(({ name, listen }) => target === (typeof target === "string" ? name : listen))!.listen,
    );
}

/** The ports at which a proxy listens, each once, and with its name if the Service's pods have one. */
export function containerPorts(ports: readonly { listen: number; target: number | string }[]) {
    const names = new Map<number, string | undefined>();
    for (const { listen, target } of ports)
        names.set(listen, names.get(listen) ?? (typeof target === "string" ? target : undefined));
    return [...names].map(([containerPort, name]) => ({ containerPort, ...(name !== undefined && { name }) }));
}
