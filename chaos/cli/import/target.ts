import { type AttributeExpression, nodeLabelPrefix, topologyLabels } from "../../targets/attributes";
import type { Fields } from "./fields";

export interface Condition {
    key: string;
    /** One of them, or `any`: the attribute exists. */
    values: readonly string[] | "any";
    /** Set if it is none of them, or if there is no such attribute. */
    negated?: true;
}

/** The attribute that stands for a label of nodes. */
export const attributeOfNode = (label: string): string =>
    Object.entries(topologyLabels).find(([, known]) => known === label)?.[0] ?? nodeLabelPrefix + label;

/** An attribute expression cannot contain these in a key or a value. */
const unwritable = /[,|*=!]|^\s|\s$/;

const inNamespace = ({ key }: Condition) => key === "k8s.namespace";

/**
 * The target that some conditions describe, with its namespace last. Refuses what a target cannot express.
 * @param named the namespace, if the conditions name none
 */
export function targetOf(
    selector: Fields,
    conditions: readonly Condition[],
    named: string | undefined,
): { target: AttributeExpression; namespace: string } | undefined {
    for (const { key, values } of conditions) {
        if (values.length === 0) selector.refuse(`${key} has no value`);
        if ([key, ...(values === "any" ? [] : values)].some((text) => unwritable.test(text)))
            selector.refuse(`${key} or its value has one of , | * = ! or a space at an end: no target can say that`);
    }
    const namespaces = new Set(
        conditions.filter(inNamespace).flatMap(({ values }) => (values === "any" ? [] : values)),
    );
    const [namespace = named ?? ""] = namespaces;
    if (conditions.some((condition) => inNamespace(condition) && condition.negated))
        return void selector.refuse("excludes a namespace, but all targets are in one: name that");
    if (namespaces.size > 1)
        return void selector.refuse("names several namespaces, but all targets are in one: import one each");
    if (namespace === "") return void selector.refuse("names no namespace: add --namespace NAME");
    const others = conditions.filter((condition) => !inNamespace(condition));
    const written = others.map(
        ({ key, values, negated }) => `${key}${negated ? "!=" : "="}${values === "any" ? "*" : values.join("|")}`,
    );
    return { target: [...written, `k8s.namespace=${namespace}`].join(","), namespace };
}

const counted = "it counts containers of ready pods";

/**
 * The radius for a number or a percentage of a file. Reports what is counted or rounded differently here.
 *
 * @param of what the file counts
 * @param rounded completes "it rounds …", of a share
 */
export function radiusWith(
    fields: Fields,
    key: string,
    { count, percent, of, rounded }: { count?: number; percent?: number; of: "pods" | "containers"; rounded: string },
): number | string | undefined {
    const there = `there it counts ${of}, ready or not`;
    if (count !== undefined)
        fields.note(
            `${there}; here ${counted}, and an attack hits whole pods: where a pod has several containers, raise the ` +
                "radius or add k8s.container.name=NAME to the target",
            key,
        );
    else if (percent === 100) fields.note(`${there}; here only ready pods are hit`, key);
    else if (percent !== undefined)
        fields.note(`${there}, and rounds ${rounded}: 66% of 3 is 2; here ${counted}, and rounds down: 1`, key);
    return count ?? (percent === undefined ? undefined : percent === 100 ? "all" : `${percent}%`);
}

/** A host, an address or a block of addresses outside of the cluster's pods. */
export interface Place {
    host: string;
    /** @default all */
    port?: number;
}

/** Such a block is one address. */
const oneAddress = /^(?:([\d.]+)\/32|([\da-f:]+)\/128)$/i;

/** A Service, as pods call it. */
const inCluster = /^[^.:]+$|\.svc(?:\.cluster\.local)?\.?$/;

/** The peers of a blackhole, whose ports are those of each block. @param fields has the places, at `key` */
export function peersAt(places: readonly Place[], fields: Fields, key: string) {
    const all = places.map(({ host, port }) => ({ host: host.replace(oneAddress, "$1$2"), port }));
    const blocks = all.filter(({ host }) => host.includes("/"));
    const hosts = all.filter((place) => !blocks.includes(place));
    const cidrs = [...new Set(blocks.map(({ host }) => host))];
    const ports = [...new Set(blocks.map(({ port }) => port))];
    if (cidrs.some((cidr) => ports.some((port) => !blocks.some((one) => one.host === cidr && one.port === port))))
        fields.refuse("has blocks of addresses with different ports: import one each", key);
    if (hosts.some(({ port }) => port === undefined))
        fields.note(
            "has hosts without a port, of which all are blocked; to prove it, each must answer at port 443 or 80, " +
                "or else needs its port here",
            key,
        );
    if (all.some(({ port }) => port === undefined))
        fields.note("without a port, what comes from there is blocked there, too, and goes on here", key);
    if (hosts.some(({ host }) => inCluster.test(host)))
        fields.note(
            "has a host with the name of a Service: if that has pods, the run is refused, and these pods must be " +
                "named instead, as in peers: k8s.deployment=NAME",
            key,
        );
    const blocked = ports.filter((port) => port !== undefined);
    return { peers: [...cidrs.map((cidr) => ({ cidr })), ...hosts], ports: blocked.length > 0 ? blocked : undefined };
}
