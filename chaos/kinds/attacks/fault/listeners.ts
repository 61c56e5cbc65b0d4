import { isDeepStrictEqual } from "node:util";
import { type Pod, portNumberIn } from "../../../values/kubernetes-rules";

interface Listener {
    listen: number;
    /** By which the Service, and policies, find this port of the proxy. */
    name?: string;
    /** Where it leads in each pod. Undefined for a pod without such a port. */
    numbers: readonly (number | undefined)[];
}

/** For ports of which no number is left. */
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
    const numbers = targets.filter((target) => typeof target === "number");
    const names = targets.filter((target) => typeof target === "string");
    // Names have a choice, so they come last.
    for (const target of new Set([...numbers, ...names])) {
        const leadsTo = pods.map((pod) => portNumberIn(pod, target));
        const name = typeof target === "string" ? target : undefined;
        const shared =
            name !== undefined &&
            listeners.find((one) => one.name === undefined && isDeepStrictEqual(one.numbers, leadsTo));
        if (shared) shared.name = name;
        else
            listeners.push({ listen: free(name === undefined ? [target as number] : leadsTo), name, numbers: leadsTo });
    }
    return targets.map((target) => listenerOf(target).listen);

    function free(wanted: readonly (number | undefined)[]): number {
        const isTaken = (number: number | undefined) => listeners.some(({ listen }) => listen === number);
        const found = wanted.find((number) => number !== undefined && !isTaken(number));
        let next = found ?? firstFree;
        while (isTaken(next)) next++;
        return next;
    }

    function listenerOf(target: number | string): Listener {
        return listeners.find(({ name, listen }) =>
            typeof target === "string" ? name === target : listen === target,
        )!;
    }
}

/** The ports that a proxy listens at, each once, and with its name if the Service's pods have one. */
export function containerPorts(ports: readonly { listen: number; target: number | string }[]) {
    const names = new Map<number, string | undefined>();
    for (const { listen, target } of ports)
        names.set(listen, names.get(listen) ?? (typeof target === "string" ? target : undefined));
    return [...names].map(([containerPort, name]) => ({ containerPort, ...(name !== undefined && { name }) }));
}
