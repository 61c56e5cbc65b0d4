/**
 * The table of trials of an attack: all that must work before it, and fail or go on working under it. The witness, an
 * ordinary pod, tries its part again and again by itself. The other part is tried from within targets and peers.
 */
import { isIPv6 } from "node:net";
import { describeBlock, isProvenAt } from "../kinds/attacks/addresses";
import { dnsPorts } from "../kinds/attacks/dns";
import { beginsAtPeers, beginsAtTargets, type Proof, type Reported, usualPorts } from "../kinds/attacks/attack-kind";
import { reference } from "../witness/protocol";
import { endpoint, parseEndpoint } from "../values/endpoint";
import type { ReasonCode } from "../values/reasons";
import { groupedBy } from "../values/grouped";
import type { Way } from "../policies/rules";
import type { Chosen, ResolvedHost } from "../targets/choose";
import { addressesOfTarget, type Target } from "../targets/containers";
import { onePerPod } from "../targets/pods";
import type { Working } from "./allowing-policies";
import { namedIn } from "./hosts";
import type { Question } from "./tools";

export interface Trial {
    /** What the observers' lines call it. */
    id: string;
    /** What must become of it under the attack. Absent if it must only be tried. */
    during?: "fails" | "works";
    /** For people, and in the state: "to 10.0.0.7:8080". Absent of what may not be left out of the proof. */
    name?: string;
}

/** At least one of some trials must work before the attack. */
export interface Need<T extends Trial> {
    isMetBy: (one: T) => boolean;
    /** Says that none does, in a sentence. */
    message: string;
    /** @default baseline-failed */
    code?: ReasonCode;
}

/** Its id is an endpoint, `reference`, or the name of a probe. */
export interface WitnessTrial extends Trial {
    /** The pod of an endpoint. The witness tries those of labeled pods only. Absent of anything else. */
    pod?: string;
    /** Set if it did not work before the attack: that it fails proves nothing, and that it works disproves. */
    leftOut?: true;
    /** Set of a probe of a pod that is no target. */
    isSpared?: true;
}

/** A part of the table. */
export interface Table<T extends Trial> {
    trials: readonly T[];
    needs: readonly Need<T>[];
}

/** What the witness tries. */
export interface ByWitness extends Table<WitnessTrial> {
    /** Whether probes through a Service show the attack, and not endpoints. */
    isProbed: boolean;
    /** Whether nothing else shows the attack: nothing is tried from within, and no target must be gone. */
    isAlone: boolean;
    /** See `Reported`. */
    missing?: string;
}

export interface TrialWithin extends Trial {
    during: "fails" | "works";
    from: Target;
    question: Question;
    /** What works if it does, as a part of a sentence. */
    what: string;
    /** Of a host: with `resolve`, all addresses that it had before the attack. */
    host?: ResolvedHost;
    /** Set if it leads to the witness, which policies of the run may have to let through. */
    meetsWitness?: true;
}

/** What is tried from within. */
export interface Within extends Table<TrialWithin> {
    /** What must fail, as a part of a sentence. */
    what: string;
    /** The same as NetworkPolicies see it. */
    denied: Working;
}

export interface Tried {
    proof: Proof;
    chosen: Pick<Chosen, "targets" | "peers" | "hosts" | "control" | "withoutTool" | "leftOut">;
    /** Those of the peers that no other attack of the run cuts off. @default all */
    spared?: readonly Target[];
    /** What the Job's reports call what is hit instead of endpoints, and what is left alone. @default nothing */
    reported?: Reported;
}

/** What the witness tries. Nothing of targets that are deleted, and lose their labels with that. */
export function byWitness({ proof, chosen, reported }: Tried): ByWitness {
    const { inward, deleted, stillWorks = {} } = proof;
    const targets = deleted ? [] : chosen.targets;
    const { hit, spared: others, passed } = reported ?? { hit: [], spared: [], passed: [] };
    const attacked = new Set([...attackedEndpoints(targets, inward), ...hit]);
    const spared = new Set(endpointsOfTargets(targets, (port) => stillWorks.inward?.except.includes(port) === false));
    const endpoints = targets.flatMap((target) =>
        endpointsOfTargets([target]).map((id): WitnessTrial => {
            const [name, pod] = [`to ${id}`, target.pod];
            if (spared.has(id)) return { id, pod, during: "works" };
            if (!attacked.has(id)) return { id, pod };
            return { id, name, pod, during: "fails", ...(chosen.leftOut?.includes(name) && { leftOut: true }) };
        }),
    );
    const known = new Set(endpoints.map(({ id }) => id));
    const all: WitnessTrial[] = [
        ...endpoints,
        ...(stillWorks.untouched ? [{ id: reference, during: "works" } as const] : []),
        ...hit.flatMap((id) => (known.has(id) ? [] : ({ id, during: "fails" } as const))),
        ...others.map((id) => ({ id, during: "works", isSpared: true }) as const),
        ...passed.map((id) => ({ id, during: "works" }) as const),
    ];
    const failing = endpoints.filter(({ during }) => during === "fails");
    const needs = [...groupedBy(failing, (one) => one.pod!)].map(([pod, some]) => ({
        isMetBy: (one: WitnessTrial) => one.pod === pod && one.during === "fails",
        message: `nothing answered at ${[...new Set(some.map(({ id }) => id))].join(", ")} of ${pod} before the attack`,
    }));
    const trials = [...new Map(all.map((one) => [one.id, one])).values()];
    const isAlone = !deleted && !beginsAtTargets(proof) && !beginsAtPeers(proof);
    return { trials, needs, isProbed: reported !== undefined, isAlone, missing: reported?.missing };
}

/** What is tried from within targets and peers. @param witness its addresses, if the targets are to try it */
export function triedWithin({ proof, chosen, spared }: Tried, witness: readonly string[]): Within {
    const { outward, lookup, peers, addresses, stillWorks = {} } = proof;
    const { targets, peers: peerPods = [], hosts = [], control, withoutTool = [], leftOut = [] } = chosen;
    const { what, denied } = deniedWithin(proof);
    const able = targets.filter(({ pod }) => !withoutTool.includes(pod));
    const between = peers ? toPeers(targets, peerPods, peers.ways, (port) => peers.ports?.includes(port) ?? true) : [];
    const lookups = lookup ? onePerPod(able).map((from) => trial(from, { lookup: lookup.name }, { what })) : [];
    const mustFail = [
        ...lookups,
        ...(outward ? toWitness(witness, outward.port, able) : []),
        ...between.map((one) => ({ ...one, what })),
        ...hosts.flatMap((host) => toHost(host, targets)),
        ...namedIn(hosts).flatMap((host) =>
            onePerPod(targets).map((from) => trial(from, { resolve: host.host }, { what, host })),
        ),
    ];
    const other = stillWorks.peers;
    const mustWork = [
        ...(stillWorks.outward ? toWitness(witness, stillWorks.outward.port, targets) : []),
        ...(other ? toPeers(targets, spared ?? peerPods, other.ways, (port) => !other.except.includes(port)) : []),
        ...(control ? toHost(control, targets) : []),
    ];
    const trials = [...mustFail, ...mustWork.map((one) => ({ ...one, during: "works" as const }))];

    const isAt = ({ uid, ...target }: Target, { from, question }: TrialWithin) =>
        from.uid === uid || ("connect" in question && addressesOfTarget(target).includes(question.connect.host));
    const didNotWork = ({ pod }: Target) => `${what} did not work before the attack (${pod})`;
    const needs: Need<TrialWithin>[] = [
        ...(peers && between.length === 0 ? [noPort] : []),
        ...(addresses ? onePerPod(targets) : []).flatMap(({ uid, pod }) => [
            ...hosts.map((host) => ({
                isMetBy: (one: TrialWithin) => one.from.uid === uid && one.host === host,
                message: `nothing answered ${pod} at ${describeHost(host)}, before the attack`,
            })),
            ...addresses!.blocks.map((block) => ({
                isMetBy: ({ from, question }: TrialWithin) =>
                    from.uid === uid && "connect" in question && isProvenAt(block, question.connect),
                message: `nothing answered ${pod} at ${describeBlock(block)} before the attack`,
            })),
        ]),
        ...lookups.map(({ id, from }) => ({ isMetBy: (one: TrialWithin) => one.id === id, message: didNotWork(from) })),
        ...(outward ? able : peers ? targets : []).map((target) => ({
            isMetBy: (one: TrialWithin) => isAt(target, one),
            message: didNotWork(target),
        })),
    ];
    return { trials: trials.filter(({ name }) => !leftOut.includes(name!)), needs, what, denied };
}

const describeHost = ({ host, port, addresses }: ResolvedHost) => `${host} (${addresses.join(", ")}), port ${port}`;

const noPort: Need<TrialWithin> = {
    isMetBy: () => false,
    code: "no-port",
    message: "neither the targets nor their peers have a known TCP port that the attack blocks",
};

/** What an attack denies of what is tried from within, as a part of a sentence, and as NetworkPolicies see it. */
function deniedWithin({ outward, lookup, addresses, peers }: Proof): { what: string; denied: Working } {
    if (peers)
        return {
            what: "a fresh connection between the targets and their peers",
            denied: { ways: peers.ways, ports: peers.ports, with: "unknown" },
        };
    if (addresses)
        return {
            what: "a fresh connection from the targets to their peers' addresses",
            denied: {
                ways: ["egress"],
                ports: addresses.hosts.flatMap(({ port }) => port ?? usualPorts),
                with: "outside",
            },
        };
    if (lookup)
        return {
            what: "a DNS lookup in the targets",
            denied: { ways: ["egress"], ports: dnsPorts, protocols: ["UDP", "TCP"], with: "outside" },
        };
    return {
        what: "a fresh connection out of the targets",
        denied: { ways: ["egress"], ports: outward && [outward.port], with: "witness" },
    };
}

/** Connections to some endpoints of targets, each from the target's own container. Its id is the endpoint. */
export const fromOwnContainers = (targets: readonly Target[], endpoints: readonly string[]): TrialWithin[] =>
    endpoints.flatMap((id) => {
        const from = targets.find((one) => endpointsOfTargets([one]).includes(id));
        return from ? { ...connection(from, parseEndpoint(id)), id } : [];
    });

/** Connections into the targets that an attack denies, as NetworkPolicies see them. */
export const deniedTo = (endpoints: readonly string[]): Working => ({
    ways: ["ingress"],
    ports: endpoints.map((one) => parseEndpoint(one).port),
    with: "witness",
});

type Words = Pick<TrialWithin, "what"> & Partial<TrialWithin>;

const trial = (from: Target, question: Question, words: Words): TrialWithin => ({
    id: `${from.uid} ${JSON.stringify(question)}`,
    during: "fails",
    from,
    question,
    ...words,
});

function connection(from: Target, connect: Place, to = connect.host, more: Partial<TrialWithin> = {}): TrialWithin {
    const name = `from ${from.pod}/${from.container} to ${to} at port ${connect.port}`;
    return trial(from, { connect }, { name, what: `a fresh connection ${name}`, ...more });
}

type Place = { host: string; port: number };

/** From the pod of each target to each TCP port that is asked for, of each peer, or the other way round. */
const toPeers = (
    targets: readonly Target[],
    peers: readonly Target[],
    ways: readonly Way[],
    isAskedFor: (port: number) => boolean,
): TrialWithin[] =>
    ways.flatMap((way) => {
        const [sources, to] = way === "egress" ? [targets, peers] : [peers, targets];
        const places = endpointsOfTargets(to, isAskedFor).map(parseEndpoint);
        return onePerPod(sources).flatMap((from) => places.map((place) => connection(from, place)));
    });

const toHost = (host: ResolvedHost, sources: readonly Target[]): TrialWithin[] =>
    onePerPod(sources).flatMap((from) =>
        host.addresses.map((address) => {
            const to = host.host === address ? address : `${host.host} (${address})`;
            return connection(from, { host: address, port: host.port }, to, { host });
        }),
    );

/** The addresses of the witness are told apart by their families: it may get another pod. */
const toWitness = (addresses: readonly string[], port: number, sources: readonly Target[]): TrialWithin[] =>
    onePerPod(sources).flatMap((from) =>
        addresses.map((host) => {
            const over = addresses.length > 1 ? ` over ${isIPv6(host) ? "IPv6" : "IPv4"}` : "";
            return connection(from, { host, port }, `another pod${over}`, { meetsWitness: true });
        }),
    );

/** The endpoints of some containers at which an attack denies connections. None if it denies none into them. */
export const attackedEndpoints = (targets: readonly Target[], inward: Proof["inward"]): string[] =>
    inward ? endpointsOfTargets(targets, (port) => inward.ports?.includes(port) ?? true) : [];

/** The endpoints of some containers' known TCP ports that are asked for, at each of their addresses: each once. */
function endpointsOfTargets(targets: readonly Target[], isAskedFor: (port: number) => boolean = () => true): string[] {
    const all = targets.flatMap((target) =>
        addressesOfTarget(target).flatMap((address) =>
            target.ports.filter(isAskedFor).map((port) => endpoint(address, port)),
        ),
    );
    return [...new Set(all)];
}
