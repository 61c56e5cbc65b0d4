import type { AttributeExpression } from "./attributes";
import { type Discovered, ownerOf, select, type Target } from "./containers";
import type { DistinctiveLabel } from "./distinguish";
import { type Eligibility, type LeftOut, whyLeftOut } from "./eligible";
import { remedy, type Written } from "../texts";
import type { Proxied } from "./proxied";
import { containersWithin, describeRadius, type Radius, shuffled } from "./radius";
import type { Abort } from "../proxy/protocol";

/** Which targets an attack asks for. Its attributes include their namespace. */
export interface TargetRequest extends Eligibility {
    /** Of the attack, unique in the experiment. */
    name: string;
    radius: Radius;
    attack: { kind: string; peers?: AttributeExpression; service?: string; abort?: Abort };
    /** Set if the attack need not be proven out of targets in which nothing can be tried. */
    outward?: "unproven";
}

export interface Chosen {
    /** Number of containers that matched. */
    matching: number;
    targets: Target[];
    /** The containers that the targets are cut off from. Absent if the attack does not name peers. */
    peers?: Target[];
    /** Tells the peers from all other pods of their namespaces. Absent if there is none, or none was sought. */
    peersLabel?: DistinctiveLabel;
    /** The targets' pods in which nothing can be tried: no container has a tool. Absent if there are none. */
    withoutTool?: string[];
    /** The Service through which callers meet the attack. Absent if it is no fault. */
    proxied?: Proxied;
}

/**
 * Chooses the targets of each attack of an experiment, in order. NetworkPolicies add up: one allows what another
 * denies. So a pod is hit by one attack only, and each attack chooses among the pods that no earlier attack has chosen.
 *
 * @throws Error as `choose` does, and if no container matches the peers
 */
export function chooseForAll(
    discovered: readonly Discovered[],
    { attacks, settings }: { attacks: readonly TargetRequest[] } & Written,
): Chosen[] {
    const taken = new Set<string>();
    return attacks.map(({ name, target, radius, attack, includeNotReady }) => {
        const chosen = choose(discovered, target, radius, { taken, name, includeNotReady, attack, settings });
        for (const { uid } of chosen.targets) taken.add(uid);
        if (attack.peers === undefined) return chosen;
        return { ...chosen, peers: peersOf(discovered, attack.peers, chosen.targets) };
    });
}

/** All containers that match, except the targets themselves. */
function peersOf(discovered: readonly Discovered[], expression: string, targets: readonly Target[]): Target[] {
    const matching = select(discovered, expression);
    const peers = matching.filter(({ uid }) => targets.every((target) => target.uid !== uid));
    if (peers.length > 0) return peers.map(withoutAttributes);
    throw new Error(
        `no running container matches the peers ${expression}, except the targets. ${inventory(discovered)}`,
    );
}

/**
 * Chooses the containers that an attack affects: at random among those that match, never more than the radius allows.
 * An attack hits all containers of a pod, so a pod is chosen with all of its matching containers or not at all.
 *
 * @param others uids of the pods that other attacks have taken, the name of this attack and its kind, and whether it
 *   asks for pods that are not ready
 * @throws Error that lists the workloads if nothing matches, or says why nothing of what matches can be chosen
 */
export function choose(
    discovered: readonly Discovered[],
    expression: string,
    radius: Radius,
    others: { taken?: ReadonlySet<string>; name?: string } & Partial<Omit<Eligibility, "target">> & Written = {},
): Chosen {
    const described = select(discovered, expression);
    if (described.length === 0) {
        const service = others.attack?.service;
        const ofService = service
            ? `, which are the conditions of the target and the selector of Service ${service}`
            : "";
        throw new Error(
            `no running container matches ${expression}${ofService}. ${inventory(discovered, others)}\n` +
                `Set another target: ${remedy(others, "target", "k8s.deployment=NAME")}`,
        );
    }
    const { attack = { kind: "" }, includeNotReady } = others;
    const leftOut = described.map((one) => whyLeftOut(one, { target: expression, attack, includeNotReady }));
    const eligible = described.filter((_, index) => leftOut[index] === undefined);
    if (eligible.length === 0) throw new Error(allLeftOut(described, leftOut as LeftOut[], expression, others));
    const matching = eligible.filter(({ uid }) => !others.taken?.has(uid));
    if (matching.length === 0) {
        const ready = eligible.length < described.length ? "ready " : "";
        throw new Error(
            `the attacks before ${others.name} already use every ${ready}pod that matches ${expression}, and a pod ` +
                "can have only one attack; scale the workload up, or lower their radius",
        );
    }
    const allowed = containersWithin(radius, matching.length);
    if (allowed === 0) {
        throw new Error(
            `a radius of ${describeRadius(radius)} allows none of the ${matching.length} containers that match ` +
                `${expression}; allow at least one: ${remedy(others, "radius", 1)}`,
        );
    }
    const pods = wholePods(matching);
    const targets: Target[] = [];
    for (const containers of shuffled(pods)) {
        if (targets.length + containers.length <= allowed) targets.push(...containers.map(withoutAttributes));
    }
    if (targets.length > 0) return { matching: matching.length, targets };
    const least = Math.min(...pods.map((containers) => containers.length));
    throw new Error(
        `each pod that matches ${expression} has at least ${least} matching containers, and an attack hits whole ` +
            `pods, but the radius allows ${allowed}; select one container per pod with k8s.container.name, or ` +
            `raise the radius: ${remedy(others, "radius", least)}`,
    );
}

const withoutAttributes = ({ attributes: _, ready: __, bare: ___, helpers: ____, ...target }: Discovered): Target =>
    target;

/** Tells a reason that can be changed first. */
function allLeftOut(
    described: readonly Discovered[],
    reasons: readonly LeftOut[],
    expression: string,
    written: Written,
): string {
    const number = described.length;
    const matches = `${number === 1 ? "1 container matches" : `${number} containers match`} ${expression}`;
    const [pods, are, it, belong] = number === 1 ? ["its pod", "is", "it", "s"] : ["their pods", "are", "them", ""];
    if (reasons.includes("not ready"))
        return (
            `${matches}, but ${pods} ${are} not ready, and attacks leave such pods out. See why: kubectl ` +
            `--namespace ${described[0]!.namespace} get pods. To attack ${it} all the same: ` +
            remedy(written, "includeNotReady", true)
        );
    if (reasons.includes("pod of a Job"))
        return (
            `${matches}, but ${pods} belong${belong} to a Job, and each pod that a kill deletes counts against the ` +
            `Job's backoffLimit. To kill ${it} all the same, name the Job in the target: k8s.job=NAME`
        );
    return (
        `${matches}, but ${pods} would not come back: no controller replaces ${it}, and a kill leaves such pods out. ` +
        "Allowed: pods of a Deployment, a StatefulSet, a DaemonSet or another controller; or another attack, such as " +
        "blackhole"
    );
}

function wholePods(containers: readonly Discovered[]): Discovered[][] {
    const pods = new Map<string, Discovered[]>();
    for (const container of containers) pods.set(container.uid, [...(pods.get(container.uid) ?? []), container]);
    return [...pods.values()];
}

/**
 * What could be attacked, one line per workload.
 *
 * @param written what the reader would change. A setting takes no name of a pod
 */
function inventory(discovered: readonly Discovered[], { settings }: Written = {}): string {
    const workloads = new Map<string, number>();
    const named = discovered.filter(({ bare }) => settings === undefined || !bare);
    if (discovered.length > 0 && named.length === 0) {
        return "Only pods without a controller run. A definition can name one, by k8s.pod.name; no setting does.";
    }
    for (const { attributes, container, namespace, pod, bare } of named) {
        const itself = bare ? `k8s.pod.name=${pod}` : `k8s.container.name=${container}`;
        const line = `${ownerOf(attributes) ?? itself},k8s.namespace=${namespace}`;
        workloads.set(line, (workloads.get(line) ?? 0) + 1);
    }
    if (workloads.size === 0) {
        return "Nothing can be attacked: no pod runs outside of the cluster's own namespaces.";
    }
    const lines = [...workloads]
        .sort()
        .map(([line, containers]) => `  ${line}  (${containers} container${containers === 1 ? "" : "s"})`);
    return `Workloads that can be attacked:\n${lines.join("\n")}`;
}
